// A client of the indexing API that reads its own writes: each read names the block of the receipt before it.

export type JsonRecord = Readonly<Record<string, unknown>>;

export type DemoSession = {
  /** A read that must not be older than the block; throws unless it is 200. */
  read(path: string, minBlock: number): Promise<JsonRecord>;
  /** A write; throws unless it has the status. */
  write(path: string, body: object, status: number): Promise<JsonRecord>;
  /** A preflight that must not be older than the block. */
  preflight(body: object, minBlock: number): Promise<JsonRecord>;
};

export function openDemoSession(apiUrl: string): DemoSession {
  const send = async (path: string, init: RequestInit, status: number): Promise<JsonRecord> => {
    const response = await fetch(apiUrl + path, init);
    const text = await response.text();
    if (response.status === status) return JSON.parse(text) as JsonRecord;
    throw new Error(`${init.method ?? "GET"} ${path} returned ${response.status}: ${text}`);
  };
  const post = (path: string, body: object, status: number, headers: Readonly<Record<string, string>> = {}) =>
    send(
      path,
      {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      },
      status,
    );
  const atLeast = (minBlock: number) => ({ "x-min-block": String(minBlock) });
  return {
    read: (path, minBlock) => send(path, { headers: atLeast(minBlock) }, 200),
    write: (path, body, status) => post(path, body, status),
    preflight: (body, minBlock) => post("/preflight", body, 200, atLeast(minBlock)),
  };
}
