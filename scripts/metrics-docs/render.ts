// Renders the dashboard, the alert rules and the page of both from the registrations and the table of alerts.
import { ALERTS, type Alert } from "./alerts.ts";
import { describeMetrics, type MetricDescription, PROCESSES } from "./registries.ts";

/** Metrics of Node that say how a process is; the others are for a search of a cause. */
const NODE_METRICS = [
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_heap_size_used_bytes",
  "nodejs_gc_duration_seconds",
];

/** Path → text of every file that is made from the metrics. */
export async function renderMetricsFiles(): Promise<Readonly<Record<string, string>>> {
  const all = [...(await describeMetrics()).values()];
  const metrics = all.filter(({ name }) => name.startsWith("sextant_") || NODE_METRICS.includes(name));
  return {
    "deploy/grafana/sextant.json": `${JSON.stringify(renderDashboard(metrics), null, 2)}\n`,
    "deploy/prometheus/alerts.yml": renderRules(),
    "deploy/metrics.md": renderList(metrics),
  };
}

/** The names and labels of a query, by what stands around them. */
export function readQuery(query: string): { readonly names: string[]; readonly labels: string[] } {
  const words = (text: string) => text.match(/[a-zA-Z_]\w*/g) ?? [];
  const labels = [
    ...[...query.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = ""]) => label),
    ...[...query.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list = ""]) => words(list)),
  ];
  const bare = query.replace(/\{[^}]*\}|\[[^\]]*\]|\bby\s*\([^)]*\)/g, " ");
  const names = [...bare.matchAll(/([a-zA-Z_]\w*)(?!\w)(?!\s*\()/g)].map(([, name = ""]) => name);
  return { names: names.filter((name) => name.includes("_")), labels };
}

function renderRules(): string {
  const rules = ALERTS.map(({ name, query, lasts, severity, action }) =>
    [
      `      - alert: ${name}`,
      `        expr: ${JSON.stringify(query)}`,
      ...(lasts === undefined ? [] : [`        for: ${lasts}`]),
      "        labels:",
      `          severity: ${severity}`,
      "        annotations:",
      `          summary: ${JSON.stringify(toPlainSentence(action))}`,
    ].join("\n"),
  );
  return [
    "# Alert rules of Prometheus, written by `npm run docs:metrics`: rule_files: [/etc/prometheus/sextant/alerts.yml].",
    "groups:",
    "  - name: sextant",
    "    rules:",
    ...rules,
    "",
  ].join("\n");
}

/** Without the links and quotes of Markdown. */
function toPlainSentence(action: string): string {
  const plain = action.replace(/\[([^\]]+)\]\(([^)]+)\)/g, "$1 (docs/$2)").replaceAll("`", "");
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}${/[.?!]$/.test(plain) ? "" : "."}`;
}

function renderList(metrics: readonly MetricDescription[]): string {
  const rows = metrics.map(({ name, type, labels, processes, help }) => {
    const where = processes.length === PROCESSES.length ? "all" : processes.join(", ");
    const alerts = alertsOf(name).map((alert) => `\`${alert.name}\``);
    return `| \`${name}\` | ${type} | ${labels.join(", ")} | ${where} | ${help} | ${alerts.join(", ")} |`;
  });
  return [
    "# Metrics",
    "",
    "Written by `npm run docs:metrics` from the registrations. [operations.md](../docs/operations.md#metrics) says where they are served. With several deployments, those of an index also have the label `deployment`. Processes report more of Node's `process_*` and `nodejs_*` than is listed here.",
    "",
    "| metric | type | labels | process | meaning | alerts |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
    "## Alerts",
    "",
    "The rules of [prometheus/alerts.yml](prometheus/alerts.yml).",
    "",
    "| alert | when | for | what to do |",
    "|---|---|---|---|",
    ...ALERTS.map(
      ({ name, query, lasts, action }) =>
        `| \`${name}\` | \`${query.replaceAll("|", "\\|")}\` | ${lasts ?? "at once"} | ${action.replaceAll("](", "](../docs/")} |`,
    ),
    "",
  ].join("\n");
}

const alertsOf = (name: string): readonly Alert[] =>
  ALERTS.filter(({ query }) => readQuery(query).names.includes(name));

const SOURCE = { type: "prometheus", uid: "$source" };
const WIDTH = 12;
const HEIGHT = 8;

function renderDashboard(metrics: readonly MetricDescription[]) {
  const rowOf = ({ processes }: MetricDescription) =>
    processes.length > 2 ? "every process" : (processes[0] ?? "");
  const rows = [...new Set(metrics.map(rowOf))];
  let y = 0;
  let id = 0;
  const panels = rows.flatMap((title) => {
    const own = metrics.filter((metric) => rowOf(metric) === title);
    id += 1;
    const row = { id, type: "row", title, collapsed: false, gridPos: { h: 1, w: 24, x: 0, y }, panels: [] };
    y += 1;
    const placed = own.map((metric, index) => {
      id += 1;
      const at = { h: HEIGHT, w: WIDTH, x: (index % 2) * WIDTH, y: y + Math.floor(index / 2) * HEIGHT };
      return renderPanel(metric, id, at);
    });
    y += Math.ceil(own.length / 2) * HEIGHT;
    return [row, ...placed];
  });
  return {
    uid: "sextant",
    title: "Sextant",
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: { list: [SOURCE_VARIABLE, INSTANCE_VARIABLE] },
    panels,
  };
}

const SOURCE_VARIABLE = { name: "source", label: "Source", type: "datasource", query: "prometheus" };
const INSTANCE_VARIABLE = {
  name: "instance",
  label: "Process",
  type: "query",
  datasource: SOURCE,
  query: "label_values(sextant_build_info, instance)",
  includeAll: true,
  multi: true,
  refresh: 2,
  current: { text: "All", value: "$__all" },
};

function renderPanel(metric: MetricDescription, id: number, gridPos: object) {
  const { name, help, labels } = metric;
  const notes = alertsOf(name).map((alert) => `${alert.name}: ${toPlainSentence(alert.action)}`);
  return {
    id,
    type: "timeseries",
    title: name,
    description: [help, ...notes].join("\n\n"),
    datasource: SOURCE,
    gridPos,
    fieldConfig: { defaults: { unit: unitOf(metric) }, overrides: [] },
    targets: [
      {
        refId: "A",
        datasource: SOURCE,
        expr: renderQuery(metric),
        legendFormat: ["instance", ...labels].map((label) => `{{${label}}}`).join(" "),
      },
    ],
  };
}

/** Counters as rates, histograms as what 95 of 100 stay below, times as ages. */
function renderQuery({ name, type, labels }: MetricDescription): string {
  const chosen = '{instance=~"$instance"}';
  const by = ["instance", ...labels].join(", ");
  if (type === "histogram")
    return `histogram_quantile(0.95, sum by (le, ${by}) (rate(${name}_bucket${chosen}[$__rate_interval])))`;
  if (type === "counter") return `sum by (${by}) (rate(${name}${chosen}[$__rate_interval]))`;
  if (name.endsWith("_timestamp_seconds")) return `time() - ${name}${chosen}`;
  return `${name}${chosen}`;
}

function unitOf({ name, type }: MetricDescription): string {
  if (type === "counter") return name.endsWith("_seconds_total") ? "percentunit" : "cps";
  if (name.endsWith("_seconds")) return "s";
  return name.endsWith("_bytes") ? "bytes" : "short";
}
