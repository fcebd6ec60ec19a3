// Clients behind a trusted proxy: each has the limit of requests to itself.
import { expect } from "vitest";

/** For a service with SEXTANT_TRUST_PROXY=1 and that many requests a minute. */
export async function expectLimitPerForwardedClient(url: string, perMinute: number): Promise<void> {
  const statusFor = async (client: string) => {
    // The part left of the last address is written by the client itself and must not count.
    const forwarded = `198.51.100.${Math.floor(Math.random() * 250)}, ${client}`;
    const response = await fetch(url, { headers: { "x-forwarded-for": forwarded } });
    await response.body?.cancel();
    return response.status;
  };
  // Twice as many: some come back while a busy machine sends them.
  const statuses = await Promise.all(Array.from({ length: 2 * perMinute }, () => statusFor("203.0.113.1")));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(perMinute);
  expect(statuses).toContain(429);
  expect(await statusFor("203.0.113.2")).toBe(200);
}
