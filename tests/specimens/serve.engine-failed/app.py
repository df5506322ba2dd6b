import no_such_tokenizer


def app(environ, start):
    start("200 OK", [])
    return [no_such_tokenizer.encode("ok")]
