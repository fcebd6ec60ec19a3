// Takes a stream off the list of things that keep Node running.

/** Pipes to children and database connections are sockets underneath, though their declared types do not say so. */
export function unrefStream(stream: object | null): void {
  if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
}
