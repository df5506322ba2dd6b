# The worker's module cannot be imported, and the server gives up.
gunicorn --bind 127.0.0.1:0 --no-control-socket app:app
