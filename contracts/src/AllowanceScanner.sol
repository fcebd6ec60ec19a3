// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IAllowanceScanner} from "./interfaces/IAllowanceScanner.sol";

/// @title Reads what many spenders may take of many tokens in one call, whatever the tokens do.
contract AllowanceScanner is IAllowanceScanner {
    // Everything a step and the final answer cost that does not grow with what was found.
    uint256 private constant GAS_FIXED = 40_000;

    // Writing one finding into the answer: a loop, bounds checks and stores, with room to spare.
    uint256 private constant GAS_PER_ENTRY = 1_500;

    // Words of memory the answer adds per finding (encoded struct) and per failure (encoded index).
    uint256 private constant WORDS_PER_FINDING = 3;
    uint256 private constant WORDS_PER_FAILURE = 1;

    uint256 private constant PAIR_BYTES = 4;

    // What the loop has done so far.
    struct Progress {
        uint256 found;
        uint256 broken;
        uint256 query;
        uint256 gasUsed;
    }

    /// @inheritdoc IAllowanceScanner
    function scan(
        Request calldata request
    ) external view returns (Finding[] memory findings, uint256[] memory failed, uint256 next) {
        uint256 count = request.pairs.length / PAIR_BYTES;
        findings = new Finding[](count);
        failed = new uint256[](count);
        Progress memory progress;
        for (; next < count; ++next) {
            if (!_canAfford(request.gasPerRead, progress.found, progress.broken)) break;
            (bool isRead, uint256 value, uint256 extra) = _readPair(request, next, progress);
            if (!isRead) {
                failed[progress.broken++] = next;
            } else if (value != 0) {
                // The array already holds empty structs: filling them takes no memory, new ones would.
                Finding memory finding = findings[progress.found++];
                (finding.index, finding.value, finding.extra) = (next, value, extra);
            }
        }
        (uint256 found, uint256 broken) = (progress.found, progress.broken);
        assembly ("memory-safe") {
            mstore(findings, found)
            mstore(failed, broken)
        }
    }

    function _readPair(
        Request calldata request,
        uint256 index,
        Progress memory progress
    ) private view returns (bool isRead, uint256 value, uint256 extra) {
        uint256 pair = uint32(bytes4(request.pairs[index * PAIR_BYTES:]));
        (uint256 position, address spender) = (pair >> 16, request.spenders[pair & 0xffff]);
        if (position != progress.query) (progress.query, progress.gasUsed) = (position, 0);
        Query calldata query = request.queries[position];
        if (progress.gasUsed >= query.gasMax) return (false, 0, 0);
        uint256 before = gasleft();
        (isRead, value, extra) = _read(query, spender, request.gasPerRead);
        progress.gasUsed += before - gasleft();
    }

    // Only two words are ever copied back, so a large answer costs its sender and not the scan.
    function _read(
        Query calldata query,
        address spender,
        uint256 gasPerRead
    ) private view returns (bool isRead, uint256 value, uint256 extra) {
        address target = query.target;
        bytes calldata prefix = query.prefix;
        assembly ("memory-safe") {
            // Written beyond the memory in use and not kept, so that it does not grow with every pair.
            let data := mload(0x40)
            calldatacopy(data, prefix.offset, prefix.length)
            mstore(add(data, prefix.length), spender)
            mstore(0x00, 0)
            mstore(0x20, 0)
            let succeeded := staticcall(gasPerRead, target, data, add(prefix.length, 0x20), 0x00, 0x40)
            isRead := and(succeeded, gt(returndatasize(), 0x1f))
            value := mload(0x00)
            if gt(returndatasize(), 0x3f) {
                extra := mload(0x20)
            }
        }
    }

    // A call forwards at most 63/64 of the gas left, so the token would silently get less than its share when gas
    // runs low, and what remains must still pay for the answer.
    function _canAfford(uint256 gasPerRead, uint256 found, uint256 broken) private view returns (bool) {
        uint256 available = gasleft();
        if (gasPerRead > available) return false;
        uint256 inUse = _wordsInUse();
        uint256 grown = inUse + 64 + WORDS_PER_FINDING * (found + 1) + WORDS_PER_FAILURE * (broken + 1);
        uint256 reserve = GAS_FIXED +
            GAS_PER_ENTRY *
            (found + broken + 1) +
            (_memoryGas(grown) - _memoryGas(inUse));
        return available > reserve && available - reserve > gasPerRead + gasPerRead / 63;
    }

    function _wordsInUse() private pure returns (uint256 words) {
        assembly ("memory-safe") {
            words := div(mload(0x40), 0x20)
        }
    }

    function _memoryGas(uint256 words) private pure returns (uint256) {
        return 3 * words + (words * words) / 512;
    }
}
