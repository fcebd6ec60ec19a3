// A self-signed certificate for a server of a test, made without any program of the machine.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export type TestCertificate = { readonly key: string; readonly cert: string };

/** An element of DER: its tag, the length of its content, and the content. */
function der(tag: number, ...content: readonly (Buffer | readonly number[])[]): Buffer {
  const bytes = Buffer.concat(content.map((each) => Buffer.from(each)));
  const { length } = bytes;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), bytes]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const utf8 = (text: string) => der(0x0c, Buffer.from(text));
const utcTime = (time: Date) =>
  der(0x17, Buffer.from(`${time.toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`));

const ECDSA_WITH_SHA256 = sequence(objectId("2a8648ce3d040302"));
const COMMON_NAME = objectId("550403");
const SUBJECT_ALTERNATIVE_NAME = objectId("551d11");
const BASIC_CONSTRAINTS = objectId("551d13");
// Tag of a DNS name in a list of alternative names.
const DNS_NAME = 0x82;
const HOUR_MS = 3_600_000;

/** Valid from an hour ago for two hours, for these names; its own authority. */
export function createTestCertificate(names: readonly string[]): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const content = describeCertificate(publicKey, names);
  const signature = sign("sha256", content, privateKey);
  const bytes = sequence(content, ECDSA_WITH_SHA256, der(0x03, [0], signature));
  return {
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${bytes.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
}

function describeCertificate(publicKey: KeyObject, names: readonly string[]): Buffer {
  const spki = publicKey.export({ format: "der", type: "spki" });
  const name = sequence(der(0x31, sequence(COMMON_NAME, utf8("Sextant test"))));
  const alternatives = sequence(...names.map((each) => der(DNS_NAME, Buffer.from(each))));
  const authority = sequence(der(0x01, [0xff]));
  const extensions = sequence(
    sequence(SUBJECT_ALTERNATIVE_NAME, der(0x04, alternatives)),
    sequence(BASIC_CONSTRAINTS, der(0x01, [0xff]), der(0x04, authority)),
  );
  const version3 = der(0xa0, der(0x02, [2]));
  // Positive: the first bit is clear.
  const serial = der(0x02, [1], createHash("sha256").update(spki).digest().subarray(0, 8));
  const validity = sequence(utcTime(new Date(Date.now() - HOUR_MS)), utcTime(new Date(Date.now() + HOUR_MS)));
  return sequence(
    ...[version3, serial, ECDSA_WITH_SHA256, name, validity, name, spki],
    der(0xa3, extensions),
  );
}
