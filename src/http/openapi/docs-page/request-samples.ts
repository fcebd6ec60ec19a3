// A request as a curl command and as a call of the client: the service renders both, and so does the page as you type.

export type SampleRequest = {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly type: string;
    readonly value: string;
  }[];
  readonly body: string | null;
};
export type SampleGuard = {
  readonly network: string;
  readonly asset: string;
  readonly payees: readonly string[];
};
export type ClientCall = {
  readonly action: string;
  readonly option: "api" | "portfolio";
  readonly kind: "read" | "list" | "paid" | "signed";
  readonly takesParameters: boolean;
  readonly guard?: SampleGuard;
};
type SampleBase = { readonly variable: string; readonly fallback: string } | { readonly origin: string };

/** The path and query; nothing in it needs escaping in a shell. */
export function buildTarget({ path, parameters }: SampleRequest) {
  const inPath = new Map(parameters.flatMap((each) => (each.in === "path" ? [[each.name, each.value]] : [])));
  const target = path.replace(/\{([^}]+)\}/g, (_braces, name) => encodePart(inPath.get(name) ?? ""));
  const query = parameters
    .filter((each) => each.in === "query")
    .map(({ name, value }) => `${encodePart(name)}=${encodePart(value)}`);
  return query.length === 0 ? target : `${target}?${query.join("&")}`;
}

/** Commas stay: they separate the words of a list, and a query may contain them. */
function encodePart(text: string) {
  const escapeSign = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"))
    .replace(/[!'()*]/g, escapeSign)
    .replaceAll("%2C", ",");
}

export function formatCurl(base: SampleBase, request: SampleRequest) {
  const { method, parameters, body } = request;
  const target = buildTarget(request);
  const url = "origin" in base ? quoteForShell(base.origin + target) : `"$${base.variable}${target}"`;
  const headers = parameters
    .filter((each) => each.in === "header")
    .map(({ name, value }) => `${name}: ${value}`);
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${url}`,
    ...headers.map((header) => `-H ${quoteForShell(header)}`),
    // --data-raw: a body that begins with @ must not name a file.
    ...(body === null ? [] : ["-H 'content-type: application/json'", `--data-raw ${quoteForShell(body)}`]),
  ];
  return lines.join(" \\\n  ");
}

function quoteForShell(text: string) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function formatClientCall(base: SampleBase, call: ClientCall, request: SampleRequest) {
  const { kind } = call;
  const imports = [
    'import { createSextant } from "@sextant-index/client";',
    ...(kind === "paid" ? ['import { openFileJournal } from "@sextant-index/client/file-journal";'] : []),
    ...(kind === "paid" || kind === "signed" ? ['import { privateKeyToAccount } from "viem/accounts";'] : []),
  ];
  const action = formatAction(call, request);
  const use = {
    list: `for await (const record of ${action}) console.log(record);`,
    paid: `const { data, receipt } = await ${action};\nconsole.log(data, receipt);`,
    read: `console.log(await ${action});`,
    signed: `console.log(await ${action});`,
  };
  return `${imports.join("\n")}\n\n${formatClient(base, call)}\n${use[kind]}`;
}

function formatClient(base: SampleBase, { option, kind, guard }: ClientCall) {
  const url =
    "origin" in base
      ? JSON.stringify(base.origin)
      : `process.env.${base.variable} ?? ${JSON.stringify(base.fallback)}`;
  if (kind === "paid") {
    const limits = Object.entries(guard ?? {}).map(
      ([name, value]) => `    ${name}: ${JSON.stringify(value)},`,
    );
    return `${formatAccount("payer", "PAYER_PRIVATE_KEY")}
const sextant = createSextant({
  ${option}: ${url},
  payer,
  guard: {
${limits.join("\n")}
  },
  journal: openFileJournal("./payments.jsonl"),
});`;
  }
  if (kind === "signed") {
    return `${formatAccount("account", "WRITER_PRIVATE_KEY")}
const sextant = createSextant({
  ${option}: ${url},
  writer: {
    account,
    // The chain of the deployment, and its IntentBook contract.
    chainId: 84532,
    intentBook: "0x1111111111111111111111111111111111111111",
  },
});`;
  }
  return `const sextant = createSextant({ ${option}: ${url} });`;
}

function formatAccount(name: string, variable: string) {
  return `const ${name} = privateKeyToAccount(\n  process.env.${variable} as \`0x\${string}\`,\n);`;
}

// Given to the client in another way, or added by it.
const OTHERWISE = ["block", "min_block", "offset"];

function formatAction({ action, takesParameters }: ClientCall, { parameters, body }: SampleRequest) {
  const find = (name: string) => parameters.find((each) => each.name === name)?.value;
  const block = find("block");
  const minBlock = find("x-min-block") ?? find("min_block");
  const passed = parameters.filter((each) => each.in !== "header" && !OTHERWISE.includes(each.name));
  const given = Object.fromEntries(passed.map(({ name, type, value }) => [name, readValue(type, value)]));
  // Later arguments need all arguments before them.
  const needsParameters = takesParameters && (passed.length > 0 || body !== null || minBlock !== undefined);
  const inputs = [
    ...(needsParameters ? [formatObject(given)] : []),
    // JSON is an expression as it stands.
    ...(body === null ? [] : [body]),
    ...(minBlock === undefined ? [] : [`{ minBlock: ${formatBigint(minBlock)} }`]),
  ];
  return `sextant${block === undefined ? "" : `.at(${formatBigint(block)})`}.${action}(${inputs.join(", ")})`;
}

/** Numbers only if the type says integer and nothing is lost. */
function readValue(type: string, value: string) {
  return type === "integer" && String(Number(value)) === value ? Number(value) : value;
}

function formatBigint(text: string) {
  return /^[0-9]+$/.test(text) ? `${BigInt(text)}n` : `BigInt(${JSON.stringify(text)})`;
}

/** On one line, with names that need no quotes unquoted. */
function formatObject(value: Record<string, unknown>) {
  const fields = Object.entries(value).map(([name, field]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return `${key}: ${JSON.stringify(field)}`;
  });
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}
