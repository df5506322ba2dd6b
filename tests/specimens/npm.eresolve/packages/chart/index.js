module.exports = () => `chart on core ${require("@app/core").version}`;
