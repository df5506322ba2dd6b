"""A mirror of the Hub in this process: one repository of one file, for those who send a token."""

import http.server
import os
import threading


class Hub(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        body = b'{"model_type": "llama", "hidden_size": 16}'
        known = self.path == "/example-lab/tiny/resolve/main/config.json"
        if not self.headers.get("Authorization"):
            self.send_response(401)
            self.send_header("X-Error-Code", "GatedRepo")
            body = b""
        elif not known:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            body = b""
        else:
            self.send_response(200)
            self.send_header("ETag", '"1"')
            self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return body

    def do_GET(self):
        self.wfile.write(self.do_HEAD())

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["HF_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
