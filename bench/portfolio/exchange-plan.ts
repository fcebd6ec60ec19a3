// The HTTP exchanges of a piece of work, and the same ones again with nothing between them but waiting and parsing.

export type Exchange = {
  readonly url: string;
  readonly body: string;
  readonly startedMs: number;
  readonly endedMs: number;
};

/** An exchange and the earlier ones of the same node, by position, that were over when it began. */
export type PlannedExchange = Pick<Exchange, "url" | "body"> & { readonly after: readonly number[] };

/** Runs the work and watches what it fetches. */
export async function watchExchanges(work: () => Promise<unknown>): Promise<readonly Exchange[]> {
  const seen: Exchange[] = [];
  const plain = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const startedMs = performance.now();
    const response = await plain(input, init);
    const text = await response.text();
    seen.push({ url: String(input), body: String(init?.body), startedMs, endedMs: performance.now() });
    return new Response(text, { status: response.status, headers: response.headers });
  };
  try {
    await work();
  } finally {
    globalThis.fetch = plain;
  }
  return seen;
}

export function planOf(exchanges: readonly Exchange[]): readonly PlannedExchange[] {
  const inOrder = [...exchanges].sort((a, b) => a.startedMs - b.startedMs);
  return inOrder.map(({ url, body, startedMs }) => ({
    url,
    body,
    // Chains know nothing of each other: what was over on another one was so by chance.
    after: inOrder.flatMap((other, i) => (other.url === url && other.endedMs <= startedMs ? [i] : [])),
  }));
}

/** How many exchanges follow one another at most. */
export function roundTrips(plan: readonly PlannedExchange[]): number {
  const depths: number[] = [];
  for (const { after } of plan) depths.push(1 + Math.max(0, ...after.map((i) => depths[i] ?? 0)));
  return Math.max(0, ...depths);
}

/** As soon as each could have begun. */
export async function sendAgain(plan: readonly PlannedExchange[]): Promise<void> {
  const sent: Promise<void>[] = [];
  for (const { url, body, after } of plan) {
    const before = Promise.all(after.map((i) => sent[i]));
    sent.push(before.then(() => exchange(url, body)));
  }
  await Promise.all(sent);
}

async function exchange(url: string, body: string): Promise<void> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  await response.json();
}
