// Who sells what: merchants and their services, facilitators that own their entry, trust signals by anybody.
import { maxUint256, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { commerceRegistryAbi as abi, commerceRegistryBytecode } from "../generated/commerce-registry.ts";
import { decodeEvents, expectBareRevert, expectRevert, startEvm } from "./evm.ts";

const evm = await startEvm();
const accounts = evm.chain.accounts;
const [merchant, facilitator, agent, payout, outsider] = [
  accounts.merchant.address,
  accounts.facilitator.address,
  accounts.agent.address,
  accounts.guardian.address,
  accounts.payer.address,
];
const registry = await evm.deploy(abi, commerceRegistryBytecode, []);
const word = (byte: string) => `0x${byte.repeat(32)}` as const;
const [hash, otherHash, capability] = [word("a1"), word("a2"), word("ca")];

describe("merchants", () => {
  it("any account registers merchants, with ids from 1, and owns them", () =>
    evm.undone(async () => {
      expect(await registry.call(merchant, "registerMerchant", [payout, "ipfs://m", hash])).toBe(1n);
      const receipt = await registry.send(merchant, "registerMerchant", [payout, "ipfs://m", hash]);
      expect(decodeEvents(receipt, abi)).toEqual([
        {
          eventName: "MerchantRegistered",
          args: {
            merchantId: 1n,
            owner: merchant,
            payoutAddress: payout,
            metadataURI: "ipfs://m",
            metadataHash: hash,
          },
        },
      ]);
      const record = { owner: merchant, payoutAddress: payout, metadataURI: "ipfs://m", metadataHash: hash };
      expect(await registry.read("getMerchant", [1n])).toEqual({ ...record, active: true });
      // One owner may have several, and nothing but the owner is required.
      await registry.send(merchant, "registerMerchant", [zeroAddress, "", zeroHash]);
      expect(await registry.read("getMerchant", [2n])).toEqual({
        owner: merchant,
        payoutAddress: zeroAddress,
        metadataURI: "",
        metadataHash: zeroHash,
        active: true,
      });
    }));

  it("only the owner changes a merchant, and the owner never changes", () =>
    evm.undone(async () => {
      await registry.send(merchant, "registerMerchant", [payout, "ipfs://m", hash]);
      await registry.send(agent, "registerMerchant", [payout, "ipfs://n", hash]);
      for (const active of [false, true]) {
        const update = [1n, agent, "ipfs://new", otherHash, active] as const;
        const changed = { payoutAddress: agent, metadataURI: "ipfs://new", metadataHash: otherHash, active };
        expect(decodeEvents(await registry.send(merchant, "updateMerchant", update), abi)).toEqual([
          { eventName: "MerchantUpdated", args: { merchantId: 1n, ...changed } },
        ]);
        expect(await registry.read("getMerchant", [1n])).toEqual({ owner: merchant, ...changed });
        for (const from of [agent, payout, outsider]) {
          await expectRevert(registry.call(from, "updateMerchant", update), abi, "Unauthorized");
        }
      }
    }));

  it.each([0n, 2n, maxUint256])("rejects the unknown merchant %s", (merchantId) =>
    evm.undone(async () => {
      await registry.send(merchant, "registerMerchant", [payout, "ipfs://m", hash]);
      await expectRevert(registry.read("getMerchant", [merchantId]), abi, "MerchantNotFound");
      // A node simulates calls without a sender as the zero address, which must own nothing.
      for (const from of [merchant, zeroAddress]) {
        const update = [merchantId, payout, "", hash, true] as const;
        await expectRevert(registry.call(from, "updateMerchant", update), abi, "MerchantNotFound");
        const service = [merchantId, "search", "", hash, capability] as const;
        await expectRevert(registry.call(from, "registerService", service), abi, "MerchantNotFound");
      }
    }),
  );
});

describe("services", () => {
  const twoMerchants = async () => {
    await registry.send(merchant, "registerMerchant", [payout, "ipfs://m", hash]);
    await registry.send(agent, "registerMerchant", [payout, "ipfs://n", hash]);
  };

  it("services count from 1 across merchants and store what was given", () =>
    evm.undone(async () => {
      await twoMerchants();
      const args = [1n, "search", "ipfs://s", hash, capability] as const;
      expect(await registry.call(merchant, "registerService", args)).toBe(1n);
      const fields = {
        merchantId: 1n,
        serviceId: "search",
        metadataURI: "ipfs://s",
        metadataHash: hash,
        capabilityHash: capability,
      };
      expect(decodeEvents(await registry.send(merchant, "registerService", args), abi)).toEqual([
        { eventName: "ServiceRegistered", args: { serviceNumericId: 1n, ...fields } },
      ]);
      expect(await registry.read("getService", [1n])).toEqual({ ...fields, active: true });
      const second = await registry.send(agent, "registerService", [2n, "", "", zeroHash, zeroHash]);
      expect(decodeEvents(second, abi)).toMatchObject([{ args: { serviceNumericId: 2n, merchantId: 2n } }]);
    }));

  it("rejects a service id that the merchant has used, compared to the byte", () =>
    evm.undone(async () => {
      await twoMerchants();
      const register = (from: typeof merchant, merchantId: bigint, serviceId: string) =>
        registry.send(from, "registerService", [merchantId, serviceId, "ipfs://s", hash, capability]);
      await register(merchant, 1n, "search");
      await register(merchant, 1n, "");
      await register(merchant, 1n, "Search");
      await register(merchant, 1n, "search ");
      await register(agent, 2n, "search");
      await registry.send(merchant, "updateService", [1n, "ipfs://s", hash, capability, false]);
      for (const serviceId of ["search", "", "Search"]) {
        await expectRevert(register(merchant, 1n, serviceId), abi, "ServiceIdTaken", [1n, serviceId]);
      }
      await expectRevert(register(agent, 2n, "search"), abi, "ServiceIdTaken", [2n, "search"]);
      expect(await registry.read("getService", [5n])).toMatchObject({ merchantId: 2n, serviceId: "search" });
    }));

  it("only the merchant's owner adds and changes services", () =>
    evm.undone(async () => {
      await twoMerchants();
      await registry.send(merchant, "registerService", [1n, "search", "ipfs://s", hash, capability]);
      const update = [1n, "ipfs://new", otherHash, zeroHash, false] as const;
      const changed = {
        metadataURI: "ipfs://new",
        metadataHash: otherHash,
        capabilityHash: zeroHash,
        active: false,
      };
      for (const from of [agent, payout, outsider]) {
        await expectRevert(registry.call(from, "updateService", update), abi, "Unauthorized");
        const service = [1n, "another", "", hash, capability] as const;
        await expectRevert(registry.call(from, "registerService", service), abi, "Unauthorized");
      }
      expect(decodeEvents(await registry.send(merchant, "updateService", update), abi)).toEqual([
        { eventName: "ServiceUpdated", args: { serviceNumericId: 1n, ...changed } },
      ]);
      expect(await registry.read("getService", [1n])).toEqual({
        merchantId: 1n,
        serviceId: "search",
        ...changed,
      });
    }));

  it.each([0n, 2n, maxUint256])("rejects the unknown service %s", (serviceId) =>
    evm.undone(async () => {
      await twoMerchants();
      await registry.send(merchant, "registerService", [1n, "search", "ipfs://s", hash, capability]);
      await expectRevert(registry.read("getService", [serviceId]), abi, "ServiceNotFound");
      const update = [serviceId, "", hash, capability, true] as const;
      await expectRevert(registry.call(merchant, "updateService", update), abi, "ServiceNotFound");
    }),
  );
});

describe("facilitators", () => {
  const registered = (from: typeof merchant, metadataURI: string) =>
    registry.send(from, "registerFacilitator", [facilitator, metadataURI, hash]);

  it("any account registers a facilitator, for any address but zero", () =>
    evm.undone(async () => {
      const args = [facilitator, "ipfs://f", hash] as const;
      expect(await registry.call(outsider, "registerFacilitator", args)).toBe(1n);
      const fields = { facilitator, metadataURI: "ipfs://f", metadataHash: hash };
      expect(decodeEvents(await registry.send(outsider, "registerFacilitator", args), abi)).toEqual([
        { eventName: "FacilitatorRegistered", args: { facilitatorId: 1n, ...fields } },
      ]);
      expect(await registry.read("getFacilitator", [1n])).toEqual({ ...fields, active: true });
      expect(await registry.call(outsider, "registerFacilitator", [agent, "", zeroHash])).toBe(2n);
      const zero = registry.call(outsider, "registerFacilitator", [zeroAddress, "ipfs://f", hash]);
      await expectRevert(zero, abi, "InvalidFacilitator", [zeroAddress]);
    }));

  it("no other account overwrites a facilitator, not even an inactive one", () =>
    evm.undone(async () => {
      await registered(outsider, "ipfs://f");
      const taken = [facilitator, 1n];
      for (const from of [outsider, merchant]) {
        await expectRevert(registered(from, "ipfs://evil"), abi, "FacilitatorAlreadyRegistered", taken);
      }
      await registry.send(facilitator, "updateFacilitator", [1n, "ipfs://off", hash, false]);
      await expectRevert(registered(outsider, "ipfs://evil"), abi, "FacilitatorAlreadyRegistered", taken);
      expect(await registry.read("getFacilitator", [1n])).toMatchObject({
        metadataURI: "ipfs://off",
        active: false,
      });
    }));

  it("a facilitator may register itself again, with the same id, and is active", () =>
    evm.undone(async () => {
      await registered(outsider, "ipfs://f");
      await registry.send(outsider, "registerFacilitator", [agent, "", zeroHash]);
      await registry.send(facilitator, "updateFacilitator", [1n, "ipfs://off", hash, false]);
      const again = [facilitator, "ipfs://back", otherHash] as const;
      expect(await registry.call(facilitator, "registerFacilitator", again)).toBe(1n);
      const fields = { facilitator, metadataURI: "ipfs://back", metadataHash: otherHash };
      expect(decodeEvents(await registry.send(facilitator, "registerFacilitator", again), abi)).toEqual([
        { eventName: "FacilitatorRegistered", args: { facilitatorId: 1n, ...fields } },
      ]);
      expect(await registry.read("getFacilitator", [1n])).toEqual({ ...fields, active: true });
      // No id was used up.
      expect(await registry.call(outsider, "registerFacilitator", [payout, "", zeroHash])).toBe(3n);
    }));

  it("only the facilitator changes its record, and unknown ids are rejected", () =>
    evm.undone(async () => {
      await registered(outsider, "ipfs://f");
      const update = [1n, "ipfs://new", otherHash, false] as const;
      for (const from of [outsider, merchant, agent]) {
        await expectRevert(registry.call(from, "updateFacilitator", update), abi, "Unauthorized");
      }
      const fields = { facilitator, metadataURI: "ipfs://new", metadataHash: otherHash, active: false };
      expect(decodeEvents(await registry.send(facilitator, "updateFacilitator", update), abi)).toEqual([
        { eventName: "FacilitatorUpdated", args: { facilitatorId: 1n, ...fields } },
      ]);
      expect(await registry.read("getFacilitator", [1n])).toEqual(fields);
      for (const facilitatorId of [0n, 2n, maxUint256]) {
        await expectRevert(registry.read("getFacilitator", [facilitatorId]), abi, "FacilitatorNotFound");
        for (const from of [facilitator, zeroAddress]) {
          const unknown = [facilitatorId, "", hash, true] as const;
          await expectRevert(registry.call(from, "updateFacilitator", unknown), abi, "FacilitatorNotFound");
        }
      }
    }));
});

describe("trust signals", () => {
  it("any account records trust signals about anything, with ids from 1", () =>
    evm.undone(async () => {
      let signalId = 0n;
      for (const subjectType of [0, 1, 2, 3]) {
        for (const kind of [0, 1, 2, 3]) {
          signalId += 1n;
          const reporter = kind % 2 === 0 ? outsider : agent;
          const args = [subjectType, 99n, kind, hash] as const;
          expect(await registry.call(reporter, "recordTrustSignal", args)).toBe(signalId);
          const fields = { subjectType, subjectId: 99n, kind, reporter, signalHash: hash };
          expect(decodeEvents(await registry.send(reporter, "recordTrustSignal", args), abi)).toEqual([
            { eventName: "TrustSignalRecorded", args: { signalId, ...fields } },
          ]);
          expect(await registry.read("getTrustSignal", [signalId])).toEqual(fields);
        }
      }
    }));

  it("unknown trust signals read as empty, and unknown subjects and kinds are rejected", async () => {
    const nothing = {
      subjectType: 0,
      subjectId: 0n,
      kind: 0,
      reporter: zeroAddress,
      signalHash: zeroHash,
    };
    for (const signalId of [0n, 1n, maxUint256]) {
      expect(await registry.read("getTrustSignal", [signalId])).toEqual(nothing);
    }
    await expectBareRevert(registry.call(outsider, "recordTrustSignal", [4, 1n, 0, hash]));
    await expectBareRevert(registry.call(outsider, "recordTrustSignal", [0, 1n, 4, hash]));
    await expectBareRevert(registry.call(outsider, "recordTrustSignal", [255, 1n, 255, hash]));
  });
});
