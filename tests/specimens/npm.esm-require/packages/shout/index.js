const suffix = await Promise.resolve("!");

export default (text) => text.toUpperCase() + suffix;
