"""At the table: people play and watch, in a browser, in a terminal, in pictures."""
