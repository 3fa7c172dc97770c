"""A match as a film: GIF, MP4, or an SVG that moves by itself."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from trysim.arena.report import checked_file, write_whole
from trysim.envs.games import BadInput
from trysim.envs.render import MIN_HEIGHT, MIN_WIDTH, Frame
from trysim.envs.table_view import TableView, view
from trysim.envs.texts import Text
from trysim.table.story import Story
from trysim.table.vector import drawing, moving

KINDS = (".gif", ".mp4", ".svg", ".png")
_COLOURS = 96  # of a GIF: enough for the table, small enough for a page
_HOLD = 4  # how many frames long the last one stays


def render(
    story: Story,
    path: Path,
    fps: float = 2.0,
    size: tuple[int, int] = (960, 640),
    seat: int | None = None,
    first: int = 0,
    last: int | None = None,
    advance: Callable[[int], None] = lambda n: None,
    agents: Sequence[str] = (),
) -> None:
    """Write the moments `first` to `last` of a story, as the ending of the file's name says.

    `seat` shows what that seat sees; `.png` is the one moment `first`. `advance` is told of frames
    done; `agents` stand beside their seats. BadInput for anything that cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise BadInput(f"{path}: the name must end in {', '.join(KINDS)}")
    if not 0 < fps <= 60:
        raise BadInput(f"fps {fps:g}: above 0, at most 60")
    if size[0] < MIN_WIDTH or size[1] < MIN_HEIGHT or max(size) > 4096:
        raise BadInput(f"size {size[0]}x{size[1]}: {MIN_WIDTH}x{MIN_HEIGHT} to 4096x4096")
    checked_file(path)
    moments = moments_between(story, first, first if kind == ".png" else last)
    tables = _views(story, moments, seat, agents, advance)
    if kind == ".svg":
        text = drawing(next(tables)) if len(moments) == 1 else moving(tables, fps)
        write_whole(path, text.encode())
        return
    frames = _frames(tables, size, _HOLD if len(moments) > 1 else 0)
    {".gif": _write_gif, ".mp4": _write_mp4, ".png": _write_png}[kind](path, frames, fps)


def moments_between(story: Story, first: int, last: int | None) -> range:
    """The moments of a film; BadInput if there are none such."""
    end = len(story) if last is None else last
    if not 0 <= first <= end <= len(story):
        raise BadInput(f"moments {first} to {end}: there are 0 to {len(story)}")
    return range(first, end + 1)


def _views(
    story: Story,
    moments: range,
    seat: int | None,
    agents: Sequence[str],
    advance: Callable[[int], None],
) -> Iterator[TableView]:
    for moment in moments:
        table = view(story.game, story.row(moment), seat)
        if agents:
            pairs = zip(table.seats, agents, strict=True)
            seats = (replace(seat, notes=(Text(agent), *seat.notes)) for seat, agent in pairs)
            table = replace(table, seats=tuple(seats))
        yield table
        advance(1)


def _frames(tables: Iterator[TableView], size: tuple[int, int], hold: int) -> Iterator[Frame]:
    """A picture of each table; the last one `hold` times more."""
    from trysim.envs.table_picture import paint

    for table in tables:
        frame = paint(table, *size)
        yield frame
    for _ in range(hold):
        yield frame


def _write_gif(path: Path, frames: Iterator[Frame], fps: float) -> None:
    import io

    from PIL import Image

    first = Image.fromarray(next(frames)).quantize(_COLOURS)
    rest = (Image.fromarray(f).quantize(palette=first, dither=Image.Dither.NONE) for f in frames)
    content = io.BytesIO()
    first.save(
        content, "gif", save_all=True, append_images=rest, duration=round(1000 / fps), loop=0
    )
    write_whole(path, content.getvalue())


def _write_png(path: Path, frames: Iterator[Frame], fps: float) -> None:
    import io

    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(next(frames)).save(content, "png")
    write_whole(path, content.getvalue())


def _write_mp4(path: Path, frames: Iterator[Frame], fps: float) -> None:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise BadInput('an MP4 needs imageio-ffmpeg: pip install "trysim[video]"') from None
    first = next(frames)
    height, width = first.shape[:2]
    part = path.resolve().with_name(f".{path.name}.part.mp4")
    try:
        writer = imageio_ffmpeg.write_frames(
            str(part), (width, height), fps=fps, macro_block_size=2, output_params=["-g", "10"]
        )
        writer.send(None)
        for frame in (first, *frames):
            writer.send(frame.tobytes())
        writer.close()
        part.replace(path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error}") from None
    finally:
        part.unlink(missing_ok=True)
