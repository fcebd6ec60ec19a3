// One spelling for requests that mean the same, so that a purchase is found again however its caller writes it.

const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Addresses and chains in lower case, chains in order and once each. The service reads both URLs alike. */
export function normalizeRequestUrl(url: string): string {
  const changed = new URL(url);
  const query = changed.searchParams;
  const address = query.get("address");
  if (address !== null) query.set("address", normalizeWallet(address.trim()));
  const chains = query.get("chains");
  if (chains !== null) query.set("chains", normalizeList(chains));
  return changed.href;
}

function normalizeWallet(wallet: string): string {
  return ADDRESS.test(wallet) ? wallet.toLowerCase() : wallet;
}

function normalizeList(text: string): string {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  return [...new Set(names)].sort().join(",");
}
