"""The address of the machine as seen from outside, which none of its interfaces has."""

import http.server

server = http.server.ThreadingHTTPServer(("203.0.113.7", 0), http.server.SimpleHTTPRequestHandler)
print("serving", server.server_address[0])
server.server_close()
