"""The playground: a server on this machine that solves, and a page that draws. `kinema play` starts both."""
