// Alerts that call an operator: the source of the alert rules, of their table, and of the notes in the dashboard.

export type Alert = {
  readonly name: string;
  readonly query: string;
  /** How long it must last. */
  readonly lasts?: string;
  readonly severity: "page" | "ticket";
  /** The remedy in Markdown, with links relative to docs/. */
  readonly action: string;
};

export const ALERTS: readonly Alert[] = [
  {
    name: "SextantIndexerAbsent",
    query: "absent(sextant_indexer_head_block)",
    lasts: "2m",
    severity: "page",
    action: "start an indexer; its exit code and log say why it ended",
  },
  {
    name: "SextantIndexLags",
    query: "max by (deployment) (sextant_indexer_lag_seconds) > 60",
    lasts: "5m",
    severity: "page",
    action:
      "read the reason in `/ready`; compare `sextant_rpc_call_seconds` with `sextant_indexer_write_seconds`: a slow node or a slow disk",
  },
  {
    name: "SextantIndexStuck",
    query: "increase(sextant_indexer_failures_total[10m]) > 20",
    severity: "page",
    action: "it is stuck at one block, which the log names; nothing is skipped",
  },
  {
    name: "SextantIndexRolledBack",
    query: "increase(sextant_indexer_rolled_back_blocks_total[1h]) > 100",
    severity: "ticket",
    action: "compare with another node",
  },
  {
    name: "SextantIndexDiffers",
    query: "sextant_indexer_audit_differences > 0",
    severity: "page",
    action: "[repair it](runbook.md#a-node-is-wrong), and find out which node was wrong",
  },
  {
    name: "SextantHistoryUnconfirmed",
    query: "sextant_indexer_unconfirmed_blocks > 0",
    lasts: "1h",
    severity: "ticket",
    action: "[the second node](operations.md#unconfirmed-history) is down, or too narrow for log queries",
  },
  {
    name: "SextantAuditStopped",
    query: "time() - max by (deployment) (sextant_indexer_audit_last_timestamp_seconds) > 3600",
    lasts: "1h",
    severity: "ticket",
    action: "nothing is audited; the log says why",
  },
  {
    name: "SextantNodeFails",
    query:
      'sum by (provider) (rate(sextant_rpc_calls_total{outcome!="ok"}[10m])) / sum by (provider) (rate(sextant_rpc_calls_total[10m])) > 0.2',
    lasts: "10m",
    severity: "ticket",
    action: "the others are used meanwhile; replace it, or add one",
  },
  {
    name: "SextantErrors",
    query:
      'sum by (instance) (rate(sextant_http_requests_total{status=~"5..",route!="/ready"}[5m])) / sum by (instance) (rate(sextant_http_requests_total{route!="/ready"}[5m])) > 0.05',
    lasts: "5m",
    severity: "page",
    action: "look for `request_failed` in the log, and at `/ready`",
  },
  {
    name: "SextantSnapshotsFail",
    query:
      'sum(rate(sextant_payments_total{outcome="failed"}[10m])) / sum(rate(sextant_payments_total{outcome=~"settled|failed"}[10m])) > 0.05',
    lasts: "10m",
    severity: "page",
    action: "the nodes of a chain; `/ready` of the portfolio names it",
  },
  {
    name: "SextantCannotBePaid",
    query: 'sum(increase(sextant_payments_total{outcome="trouble"}[2m])) > 0',
    lasts: "2m",
    severity: "page",
    action:
      "no client can pay: is the facilitator up, has it nodes, gas and its database, are fees above its limits?",
  },
  {
    name: "SextantPaymentsPending",
    query:
      'sum(rate(sextant_payments_total{outcome="pending"}[10m])) / sum(rate(sextant_payments_total{outcome="settled"}[10m])) > 0.02',
    lasts: "10m",
    severity: "page",
    action: "gas price, gas balance, nodes of the payment chain",
  },
  {
    name: "SextantVouchersUnclaimed",
    query: "max(sextant_channels_oldest_seconds) > 10800",
    lasts: "10m",
    severity: "page",
    action:
      "claims do not go out: gas price, gas balance, nodes of the payment chain; `sextant channels` shows whose withdrawal ends when",
  },
  {
    name: "SextantVouchersUncovered",
    query: "min(sextant_channels_covered_ratio) < 0.95",
    lasts: "10m",
    severity: "page",
    action: "a reorg or a withdrawal took deposits away: `sextant channels --claim all`",
  },
  {
    name: "SextantVouchersKeyless",
    query: "min(sextant_channels_keyless) > 0",
    lasts: "10m",
    severity: "page",
    action:
      "no process claims them: set PAYMENT_CHANNELS=true, and their key in PAYMENT_CHANNEL_KEY or PAYMENT_CHANNEL_OLD_KEYS",
  },
  {
    name: "SextantChannelsElsewhere",
    query: "max(sextant_channels_elsewhere) > 0",
    severity: "ticket",
    action:
      "another database sells on the same channels, or this one is [restored](../docs/runbook.md#backup-and-restore)",
  },
  {
    name: "SextantSettlementsFail",
    query:
      'sum(rate(sextant_facilitator_requests_total{operation="settle",outcome!="ok"}[10m])) / sum(rate(sextant_facilitator_requests_total{operation="verify",outcome="ok"}[10m])) > 0.05',
    lasts: "10m",
    severity: "ticket",
    action: "payers empty their accounts in between, or the chain is congested",
  },
  {
    name: "SextantReplicaOut",
    query: "sextant_replica_in_rotation == 0",
    lasts: "10m",
    severity: "ticket",
    action: "`/ready` of the API says why; the primary serves its reads",
  },
  {
    name: "SextantWebhookBehind",
    query: "sextant_webhook_lag_seconds > 3600",
    lasts: "10m",
    severity: "ticket",
    action: "its receiver is down or slow: `sextant webhooks --list`",
  },
  {
    name: "SextantEventLoopBlocked",
    query: "nodejs_eventloop_lag_p99_seconds > 0.5",
    lasts: "5m",
    severity: "ticket",
    action: "more work than one core does: add a process ([scale.md](scale.md))",
  },
  {
    name: "SextantDescriptorsShort",
    query: "process_open_fds / process_max_fds > 0.8",
    lasts: "2m",
    severity: "page",
    action: "find who holds connections (`ss -tn`), or raise `SEXTANT_CONNECTIONS_MAX` and `ulimit -n`",
  },
  {
    name: "SextantVersionsMixed",
    query: "count(count by (version) (sextant_build_info)) > 1",
    lasts: "1h",
    severity: "ticket",
    action: "finish the [upgrade](runbook.md#upgrade)",
  },
];
