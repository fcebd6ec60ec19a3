// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ICappedCaller} from "./interfaces/ICappedCaller.sol";

/// @title Calls many contracts that anyone may have deployed in one call, whatever they do.
contract CappedCaller is ICappedCaller {
    // Everything a step and the final answer cost that does not grow with the results.
    uint256 private constant GAS_FIXED = 30_000;

    // Encoding one result into the answer: a loop, bounds checks, a copy and stores, with room to spare.
    uint256 private constant GAS_PER_RESULT = 2_000;

    // Copying one word of a result into the answer.
    uint256 private constant GAS_PER_WORD = 12;

    // Words that one result adds to the answer beside its data: offset, flag, offset of the data, length, padding.
    uint256 private constant WORDS_PER_RESULT = 5;

    /// @inheritdoc ICappedCaller
    function callAll(
        Call[] calldata calls,
        uint256 bytesMax
    ) external view returns (Result[] memory results) {
        uint256 count = calls.length;
        results = new Result[](count);
        uint256 made = 0;
        for (; made < count; ++made) {
            if (!_canAfford(calls[made], bytesMax, made)) break;
            (results[made].success, results[made].returnData) = _call(calls[made], bytesMax);
        }
        assembly ("memory-safe") {
            mstore(results, made)
        }
    }

    // At most `bytesMax` are ever copied back, so a large answer costs its sender and not the others.
    function _call(
        Call calldata call,
        uint256 bytesMax
    ) private view returns (bool success, bytes memory returnData) {
        address target = call.target;
        uint256 gasMax = call.gasMax;
        bytes calldata data = call.data;
        assembly ("memory-safe") {
            // The calldata is not needed again, so that the result takes its place.
            returnData := mload(0x40)
            calldatacopy(returnData, data.offset, data.length)
            success := staticcall(gasMax, target, returnData, data.length, 0x00, 0x00)
            let size := returndatasize()
            success := and(success, iszero(gt(size, bytesMax)))
            if iszero(success) {
                size := 0
            }
            mstore(returnData, size)
            returndatacopy(add(returnData, 0x20), 0x00, size)
            mstore(0x40, and(add(add(returnData, 0x3f), size), not(0x1f)))
        }
    }

    // A call forwards at most 63/64 of the gas left, so the contract would silently get less than its share when gas
    // runs low, and what remains must still pay for the answer, which copies every result.
    function _canAfford(
        Call calldata call,
        uint256 bytesMax,
        uint256 made
    ) private view returns (bool) {
        uint256 used = _wordsInUse();
        uint256 grown = used + (call.data.length + bytesMax) / 32 + WORDS_PER_RESULT;
        uint256 answer = grown + WORDS_PER_RESULT * (made + 1);
        uint256 reserve = GAS_FIXED +
            GAS_PER_RESULT *
            (made + 1) +
            GAS_PER_WORD *
            answer +
            (_memoryGas(grown + answer) - _memoryGas(used));
        uint256 available = gasleft();
        return available > reserve && available - reserve > call.gasMax + call.gasMax / 63;
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
