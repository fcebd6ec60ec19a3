// Planted defects, one a line of code, each with the test that must fail for it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are pieces of code.

export type Mutation = {
  /** Names the planted defect. */
  readonly name: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The cheapest test that fails for it. */
  readonly caughtBy: string;
};

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "an undo that is shifted by a block",
    file: "src/store/index/versioned-rows.ts",
    find: "where valid_from > $1 returning",
    replace: "where valid_from > $1 + 1 returning",
    caughtBy: "src/store/index/versioned-rows.test.ts",
  },
  {
    name: "versions that a rollback does not reopen",
    file: "src/store/index/versioned-rows.ts",
    find: "and t.valid_to = k.born`",
    replace: "and t.valid_to < k.born`",
    caughtBy: "src/store/index/versioned-rows.test.ts",
  },
  {
    name: "two columns that are swapped when a batch is copied",
    file: "src/store/index/versioned-rows.ts",
    find: '(${[...Object.keys(table.columns), ...VALIDITY].join(", ")}) from stdin',
    replace:
      '(${[...Object.keys(table.columns).slice(0, -2), ...Object.keys(table.columns).slice(-2).reverse(), ...VALIDITY].join(", ")}) from stdin',
    caughtBy: "src/store/index/versioned-rows.test.ts",
  },
  {
    name: "a read of the past that includes the version that ended at its block",
    file: "src/store/index/as-of.ts",
    find: "(valid_to is null or valid_to > ${parameter})",
    replace: "(valid_to is null or valid_to >= ${parameter})",
    caughtBy: "src/store/index/as-of.test.ts",
  },
  {
    name: "a lock whose lease is not renewed",
    file: "src/store/postgres/advisory-lock.ts",
    find: "if (this.#options.takeOver) void this.#renew();",
    replace: "",
    caughtBy: "src/store/postgres/advisory-lock.test.ts",
  },
  {
    name: "a payment whose lease is taken while its owner still holds it",
    file: "src/payments/ledger/lease.ts",
    find: "(lease_until is null or lease_until <= now() or",
    replace: "(lease_until is null or lease_until <> now() or",
    caughtBy: "src/payments/ledger/transitions.test.ts",
  },
  {
    name: "a payer who has never paid, served many times at once",
    file: "src/payments/paywall/flow-run.ts",
    find: "if (open.length >= atOnce) return respond.tooManyActive(atOnce);",
    replace: "",
    caughtBy: "src/payments/paywall/unpaid-work.integration.test.ts",
  },
  {
    name: "a cursor that repeats its last row",
    file: "src/schema/reads/list.ts",
    find: 'order.direction === "asc" ? ">" : "<"',
    replace: 'order.direction === "asc" ? ">=" : "<="',
    caughtBy: "tests/api/reads.test.ts",
  },
  {
    name: "a page that loses the row after its last one",
    file: "src/schema/reads/list.ts",
    find: "formatCursor(rows, count - 1, options)",
    replace: "formatCursor(rows, count, options)",
    caughtBy: "tests/api/reads.test.ts",
  },
  {
    name: "the indexes of lists of the past, dropped",
    file: "src/store/index/versioned-rows.ts",
    find: "return [...listed, ...current, born];",
    replace: 'return [...listed.filter(({ name }) => !name.includes("_past_by_")), ...current, born];',
    caughtBy: "tests/api/read-costs.integration.test.ts",
  },
  {
    name: "a missing await before the commit of a transaction",
    file: "src/store/index/store.ts",
    find: "await changeRows(rows);\n  const changed",
    replace: "void changeRows(rows);\n  const changed",
    caughtBy: "tests/indexer/identical-tables.test.ts",
  },
  {
    name: "a batch that may be written twice",
    file: "src/store/index/store.ts",
    find: "raise exception 'cannot write blocks",
    replace: "raise notice 'cannot write blocks",
    caughtBy: "src/store/index/store.test.ts",
  },
  {
    name: "a rollback below what is final",
    file: "src/store/index/store.ts",
    find: "if (to.number < finalized)",
    replace: "if (to.number < 0)",
    caughtBy: "src/store/index/store.test.ts",
  },
  {
    name: "a log that its block's bloom does not contain, believed",
    file: "src/chain/logs/get-logs.ts",
    find: 'bloom === "complete" && !bloomMayContainLog',
    replace: 'bloom !== "complete" && !bloomMayContainLog',
    caughtBy: "src/chain/logs/read-block-logs.test.ts",
  },
  {
    name: "a replica that is behind what was served, chosen",
    file: "src/store/replicas/read-source.ts",
    find: "state.revision < than.revision",
    replace: "state.revision > than.revision",
    caughtBy: "src/store/replicas/choose-source.test.ts",
  },
  {
    name: "a wrong sign in a difference",
    file: "src/portfolio/diff/figures.ts",
    find: "formatDecimal({ units: -units, scale })",
    replace: "formatDecimal({ units, scale })",
    caughtBy: "src/portfolio/diff/diff-snapshots.test.ts",
  },
  {
    name: "a debt that counts as money in a difference",
    file: "src/portfolio/diff/diff-snapshots.ts",
    find: 'kind === "borrowed" ? -1n : 1n',
    replace: 'kind === "borrowed" ? 1n : 1n',
    caughtBy: "src/portfolio/diff/diff-snapshots.test.ts",
  },
  {
    name: "a signed write whose signer is not compared",
    file: "src/api/writes/verify-signature.ts",
    find: "if (signer === account) return;",
    replace: "if (signer !== null) return;",
    caughtBy: "src/api/writes/verify-signature.test.ts",
  },
  {
    name: "a contract account's signature that is not checked",
    file: "src/api/writes/verify-signature.ts",
    find: "?.slice(0, ACCEPTED.length) === ACCEPTED) return;",
    replace: "?.slice(0, ACCEPTED.length) !== undefined) return;",
    caughtBy: "src/api/writes/verify-signature.test.ts",
  },
  {
    name: "a payment by another key than the payer's, accepted",
    file: "src/payments/facilitator/payer-checks.ts",
    find: "return signer === signed.authorization.from.toLowerCase();",
    replace: "return signer !== signed.authorization.from || true;",
    caughtBy: "src/payments/facilitator/key-claim.integration.test.ts",
  },
  {
    name: "a webhook signature that leaves its time out",
    file: "src/api/webhooks/signing.ts",
    find: "`${messageId}.${timestamp}.${body}`",
    replace: "`${messageId}.${body}`",
    caughtBy: "src/api/webhooks/signing.test.ts",
  },
  {
    name: "a value at risk above what the wallet holds",
    file: "src/portfolio/exposure/value-at-risk.ts",
    find: "amount < holding.rawBalance ? amount : holding.rawBalance",
    replace: "amount > holding.rawBalance ? amount : holding.rawBalance",
    caughtBy: "src/portfolio/exposure/value-at-risk.test.ts",
  },
  {
    name: "a cache key without the block of the read",
    file: "src/http/routes/reads.ts",
    find: '${input.asOf === null ? "" : formatAtBlock(input.asOf)} ${input.provenance}',
    replace: "${input.provenance}",
    caughtBy: "tests/api/reads.test.ts",
  },
  {
    name: "deadlines judged at the block before the time asked for",
    file: "src/schema/reads/record.ts",
    find: "asOf === null || asOf.time === null",
    replace: "asOf === null || asOf.time !== undefined",
    caughtBy: "tests/api/times.test.ts",
  },
  {
    name: "a payment above the limit of the guard, signed",
    file: "packages/client/payments/guard.ts",
    find: "if (amount > rules.limits.perPayment) {",
    replace: "if (amount < 0n) {",
    caughtBy: "packages/client/payments/purchase.test.ts",
  },
  {
    name: "a quotation mark that is not escaped in a page",
    file: "src/lib/html.ts",
    find: "/[&<>\"'",
    replace: "/[&<>'",
    caughtBy: "src/lib/html.test.ts",
  },
  {
    name: "a session key that is valid after its time",
    file: "src/protocol/preflight/rules.ts",
    find: "rules.time > expiresAt",
    replace: "rules.time > expiresAt + 1n",
    caughtBy: "tests/api/preflight-session.test.ts",
  },
  {
    name: "a private address that webhooks may reach",
    file: "src/lib/public-network.ts",
    find: '"169.254.0.0/16", ',
    replace: "",
    caughtBy: "src/lib/public-network.test.ts",
  },
  {
    name: "a sign-in whose nonce is good twice",
    file: "src/payments/sign-in/sign-in-rows.ts",
    find: "if (is_taken === true)",
    replace: "if (is_taken !== undefined)",
    caughtBy: "tests/payments/sign-in.test.ts",
  },
  {
    name: "a sign-in that gets what another account has bought",
    file: "src/payments/sign-in/sign-in-rows.ts",
    find: "and payer = ${payer} and fingerprint = ${fingerprint}`;",
    replace: "and ${payer}::text is not null and fingerprint = ${fingerprint}`;",
    caughtBy: "tests/payments/sign-in.test.ts",
  },
  {
    name: "a sign-in that is good for every request of a path",
    file: "src/payments/sign-in/challenges.ts",
    find: "resourceOrigin, path, fingerprint, issuedAt, salt]",
    replace: "resourceOrigin, path, fingerprint.length, issuedAt, salt]",
    caughtBy: "src/payments/sign-in/sign-in.test.ts",
  },
  {
    name: "a client that signs in under the name of another domain",
    file: "packages/client/payments/sign-in.ts",
    find: "if (domain !== host)",
    replace: 'if (typeof domain !== "string")',
    caughtBy: "packages/client/payments/sign-in.test.ts",
  },
  {
    name: "a verifier that takes the event of another record",
    file: "packages/client/verify/record-logs.ts",
    find: "log.topics[1] === key;",
    replace: "log.topics[1] !== undefined;",
    caughtBy: "tests/api/record-forgeries.test.ts",
  },
  {
    name: "a verifier that takes the contract of a record from the response",
    file: "packages/client/verify/known-contracts.ts",
    find: "  return false;\n}",
    replace: "  return true;\n}",
    caughtBy: "tests/api/record-proofs.test.ts",
  },
  {
    name: "a verifier that proves zeros of a record that does not exist",
    file: "packages/client/verify/record-proof.ts",
    find: 'path === `/${id}` && result !== "none"',
    replace: 'path === `/${id}` && result !== "wrong"',
    caughtBy: "tests/api/record-forgeries.test.ts",
  },
  {
    name: "a prover that believes the layout under any code",
    file: "src/api/proofs/prove-record.ts",
    find: "const isKnown = hasKnownCode(declaration.contract, code.ok);",
    replace: 'const isKnown = hasKnownCode(declaration.contract, code.ok) || code.ok !== "0x";',
    caughtBy: "src/api/proofs/record-prover.test.ts",
  },
];
