"""A free port."""

import http.server
import socket

earlier = socket.create_server(("127.0.0.1", 0))
port = 0
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler)
print("serving", server.server_address[0])
server.server_close()
