// Measures what the client adds to plain fetch: per free request, and its guard and journal per paid one.
import type { ServerReady } from "./api/cpu-time.ts";
import type { ClientLoadReport, ClientLoadTask } from "./client/client-load-child.ts";
import { type Bench, type BenchReport, chooseSize, type Headline } from "./harness/measurement.ts";
import { withChildren } from "./harness/with-children.ts";

const ROUNDS = { quick: 5, usual: 500, full: 3_000 };

export const clientBench: Bench = {
  name: "client",
  run: (options) =>
    withChildren(async (start) => {
      const { url } = await start("service", "client/service-child.ts", {}).next<ServerReady>();
      const rounds = chooseSize(options, ROUNDS);
      const task: ClientLoadTask = { url, rounds };
      return toReport(
        await start("client", "client/client-load-child.ts", task).next<ClientLoadReport>(),
        rounds,
      );
    }),
};

function toReport(report: ClientLoadReport, rounds: number): BenchReport {
  const { free, freeByClient, paid, paidWithGuard, paidWithJournal } = report;
  const note = `median of ${rounds}, in turns with plain fetch; the service does nothing`;
  const headlines = [
    headline("a free request by the client", freeByClient, free, "plain fetch and JSON"),
    headline("a paid request with guard", paidWithGuard, paid, "402, signature and request by hand"),
    headline(
      "a paid request with guard and journal",
      paidWithJournal,
      paid,
      "402, signature and request by hand",
    ),
  ];
  const measurements = headlines.map(({ what, value, ceiling, ratio }) => ({
    what,
    value,
    note: `${ratio} of ${ceiling}; ${note}`,
  }));
  return { measurements, headlines };
}

function headline(what: string, ms: number, ceilingMs: number, words: string): Headline {
  return {
    what,
    value: `${ms.toFixed(2)} ms`,
    ceiling: `${ceilingMs.toFixed(2)} ms: ${words}`,
    ratio: `${(ms / ceilingMs).toFixed(2)} ×`,
    aim: null,
  };
}
