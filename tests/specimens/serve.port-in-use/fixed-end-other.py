"""The earlier server has ended."""

import http.server
import socket

earlier = socket.create_server(("127.0.0.1", 0))
port = earlier.getsockname()[1]
earlier.close()
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler)
print("serving", server.server_address[0])
server.server_close()
