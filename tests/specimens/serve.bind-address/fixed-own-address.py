"""An address that the machine has."""

import http.server

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print("serving", server.server_address[0])
server.server_close()
