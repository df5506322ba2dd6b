"""The address of the file itself."""

import http.server
import threading
import urllib.request

import torch
from torch import nn


class Hub(http.server.SimpleHTTPRequestHandler):
    """A hub as there are several: /blob/ shows a page about a file, /resolve/ gives the file."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        if "/blob/" in self.path:
            self.wfile.write(b"<!DOCTYPE html><html><body>model.pt, 4.1 kB, stored with Git LFS</body></html>")
        else:
            with open("published.pt", "rb") as stream:
                self.wfile.write(stream.read())

    def log_message(self, *_):
        pass


torch.save(nn.Linear(8, 4).state_dict(), "published.pt")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}/owner/model"

urllib.request.urlretrieve(f"{address}/resolve/main/model.pt", "model.pt")
state = torch.load("model.pt", map_location="cpu")
print("weights", tuple(state["weight"].shape))
