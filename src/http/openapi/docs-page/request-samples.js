// A request as a curl command and as a call of the client: the service renders both, and so does the page as you type.

/**
 * @typedef {{ name: string, in: string, type: string, value: string }} SampleParameter
 * @typedef {{ method: string, path: string, parameters: SampleParameter[], body: string | null }} SampleRequest
 * @typedef {{ network: string, asset: string, payees: string[] }} SampleGuard
 * @typedef {{ action: string, option: "api" | "portfolio", kind: "read" | "list" | "paid" | "signed", takesParameters: boolean, guard?: SampleGuard }} ClientCall
 * @typedef {{ variable: string, fallback: string } | { origin: string }} SampleBase
 */

/** The path and query; nothing in it needs escaping in a shell. @param {SampleRequest} request */
export function buildTarget({ path, parameters }) {
  const inPath = new Map(parameters.flatMap((each) => (each.in === "path" ? [[each.name, each.value]] : [])));
  const target = path.replace(/\{([^}]+)\}/g, (_braces, name) => encodePart(inPath.get(name) ?? ""));
  const query = parameters
    .filter((each) => each.in === "query")
    .map(({ name, value }) => `${encodePart(name)}=${encodePart(value)}`);
  return query.length === 0 ? target : `${target}?${query.join("&")}`;
}

/** Commas stay: they separate the words of a list, and a query may contain them. @param {string} text */
function encodePart(text) {
  const escapeSign = (/** @type {string} */ sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"))
    .replace(/[!'()*]/g, escapeSign)
    .replaceAll("%2C", ",");
}

/** @param {SampleBase} base @param {SampleRequest} request */
export function formatCurl(base, request) {
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

/** @param {string} text */
function quoteForShell(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {SampleBase} base @param {ClientCall} call @param {SampleRequest} request */
export function formatClientCall(base, call, request) {
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

/** @param {SampleBase} base @param {ClientCall} call */
function formatClient(base, { option, kind, guard }) {
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

/** @param {string} name @param {string} variable */
function formatAccount(name, variable) {
  return `const ${name} = privateKeyToAccount(\n  process.env.${variable} as \`0x\${string}\`,\n);`;
}

// Given to the client in another way, or added by it.
const OTHERWISE = ["block", "min_block", "offset"];

/** @param {ClientCall} call @param {SampleRequest} request */
function formatAction({ action, takesParameters }, { parameters, body }) {
  /** @param {string} name */
  const find = (name) => parameters.find((each) => each.name === name)?.value;
  const block = find("block");
  const minBlock = find("x-min-block") ?? find("min_block");
  const passed = parameters.filter((each) => each.in !== "header" && !OTHERWISE.includes(each.name));
  const given = Object.fromEntries(passed.map(({ name, type, value }) => [name, readValue(type, value)]));
  // What comes later in the list of arguments needs everything before it.
  const needsParameters = takesParameters && (passed.length > 0 || body !== null || minBlock !== undefined);
  const inputs = [
    ...(needsParameters ? [formatObject(given)] : []),
    // JSON is an expression as it stands.
    ...(body === null ? [] : [body]),
    ...(minBlock === undefined ? [] : [`{ minBlock: ${formatBigint(minBlock)} }`]),
  ];
  return `sextant${block === undefined ? "" : `.at(${formatBigint(block)})`}.${action}(${inputs.join(", ")})`;
}

/** Numbers only where the type says integer and nothing is lost. @param {string} type @param {string} value */
function readValue(type, value) {
  return type === "integer" && String(Number(value)) === value ? Number(value) : value;
}

/** @param {string} text */
function formatBigint(text) {
  return /^[0-9]+$/.test(text) ? `${BigInt(text)}n` : `BigInt(${JSON.stringify(text)})`;
}

/** On one line, with names that need no quotes unquoted. @param {Record<string, unknown>} value */
function formatObject(value) {
  const fields = Object.entries(value).map(([name, field]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return `${key}: ${JSON.stringify(field)}`;
  });
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}
