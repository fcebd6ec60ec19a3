// Addresses and forwarding headers become clients, whichever form a proxy writes them in.
import { describe, expect, it } from "vitest";
import { toClientId } from "./request-guard.ts";

describe("toClientId", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2::", "2001:db8:1:2"],
    ["2001:0db8:0001:0002:ffff::1", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["203.0.113.7:51234", "203.0.113.7"],
    [" 203.0.113.7:1 ", "203.0.113.7"],
    ["[2001:db8:1:2::9]:443", "2001:db8:1:2"],
    ["[2001:db8:1:2::9]", "2001:db8:1:2"],
    ["[::ffff:203.0.113.7]:80", "203.0.113.7"],
    ["::ffff:cb00:7107", "203.0.113.7"],
    ["0:0:0:0:0:FFFF:203.0.113.7", "203.0.113.7"],
    ["64:ff9b::203.0.113.7", "64:ff9b:0:0"],
    ["", "unknown"],
    ["unknown", "unknown"],
    ["203.0.113.7, 203.0.113.8", "unknown"],
    ["203.0.113.007", "unknown"],
    ["2001:db8::1::2", "unknown"],
    ["[2001:db8::1", "unknown"],
  ])("counts %s as %s", (address, client) => {
    expect(toClientId(address)).toBe(client);
  });
});
