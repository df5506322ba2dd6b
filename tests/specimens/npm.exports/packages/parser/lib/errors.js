exports.name = "ParserError";
