// The primary database is killed in the middle of payments, and a replica is promoted: the ledger forgets none of them.
// Proves docs/runbook.md#fail-over. Fast tests of the same rules: src/payments/ledger/replication.test.ts, src/store/postgres/server-list.test.ts.
import { expect, it, onTestFinished } from "vitest";
import { startReplicatedPostgres } from "../../support/database/replicated-postgres.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { openChaosStage } from "./chaos-stage.ts";
import { buyOnce } from "./payer.ts";
import { settleDown } from "./run-payments-chaos.ts";
import { verifyPayments } from "./verify-payments.ts";

const PAYERS = 6;
const PAYMENTS = 2;
// In the middle: some payments are settled, others are being verified, stored and settled.
const FAIL_AT_SETTLE = 3;

it("sells on with the promoted replica, without a restart and without a payment lost", async () => {
  const cluster = await startReplicatedPostgres({ replicas: [{}, {}], synchronous: true });
  onTestFinished(() => cluster.stop());
  let failedOver: Promise<void> | null = null;
  const failOver = async () => {
    await cluster.primary.kill();
    await cluster.failOverTo(await cluster.findMostAdvanced());
  };
  const random = seededRandom(9);
  const stage = await openChaosStage({
    databaseUrl: cluster.url,
    payers: PAYERS,
    facilitators: 1,
    random,
    faultySettles: 0,
    onSettle: (number) => {
      if (number >= FAIL_AT_SETTLE) failedOver ??= failOver();
    },
  });
  onTestFinished(() => stage.close());
  const buyAll = async (payer: (typeof stage.paid.payers)[number]) => {
    const bought = [];
    for (let payment = 0; payment < PAYMENTS; payment += 1) {
      const path = `/portfolio?address=${stage.wallets[payment % stage.wallets.length]}&chains=base`;
      bought.push(
        await buyOnce({
          account: payer,
          asset: stage.paid.asset,
          network: `eip155:${stage.paid.chain.chainId}`,
          path,
          otherPath: `${path}&spam=exclude`,
          behaviour: payment === 0 ? "patient" : "hasty",
          random,
          serviceUrls: () => stage.portfolios.flatMap(({ url }) => url ?? []),
        }),
      );
    }
    return bought;
  };
  const bought = (await Promise.all(stage.paid.payers.map(buyAll))).flat();
  // Otherwise it would have proved nothing.
  expect(failedOver).not.toBeNull();
  await failedOver;
  await settleDown(stage);
  const { findings, counts } = await verifyPayments(stage, bought);
  const broken = findings.filter(({ violations }) => violations.length > 0);
  expect(broken, JSON.stringify(counts)).toEqual([]);
  expect(counts["transfers on chain"]).toBeGreaterThan(FAIL_AT_SETTLE);
}, 480_000);
