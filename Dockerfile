# A small image that runs trysim on the CPU:
#   docker build -t trysim .
#   docker run --rm trysim arena semerik --agents policy:semerik expert --deals 200 --seed 1
#   docker run --rm -v "$PWD/runs:/data/runs" trysim train configs/semerik/demo.yaml --out runs/demo
#   docker run --rm -p 8777:8777 -v "$PWD/tables:/data/tables" trysim serve --host 0.0.0.0
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir build==1.6.1 && python -m build --wheel --outdir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
COPY constraints.txt /wheels/
# The CPU build of torch is a third of the usual one; the other packages come from PyPI.
RUN pip install --no-cache-dir --constraint /wheels/constraints.txt \
        --index-url https://download.pytorch.org/whl/cpu torch \
    && wheel="$(echo /wheels/*.whl)" \
    && pip install --no-cache-dir --constraint /wheels/constraints.txt "${wheel}[web,reports]" \
    && useradd --create-home --uid 1000 trysim \
    && mkdir /data && chown trysim /data
USER 1000
WORKDIR /data
ENV TRYSIM_CACHE_DIR=/home/trysim/.cache/trysim
ENTRYPOINT ["trysim"]
CMD ["--help"]
