exports.parse = (text) => text.split(",");
