// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IBalanceScanner} from "./interfaces/IBalanceScanner.sol";

/// @title Reads many token balances of one wallet in one call, whatever the tokens do.
contract BalanceScanner is IBalanceScanner {
    // Everything a step and the final answer cost that does not grow with what was found.
    uint256 private constant GAS_FIXED = 30_000;

    // Copying one entry into the answer: two loops, bounds checks and stores, with room to spare.
    uint256 private constant GAS_PER_ENTRY = 1_000;

    // Words of memory the answer adds per holding (pointer, struct, encoded pair) and per failure (encoded index).
    uint256 private constant WORDS_PER_HOLDING = 5;
    uint256 private constant WORDS_PER_FAILURE = 1;

    /// @inheritdoc IBalanceScanner
    function scan(
        address wallet,
        address[] calldata tokens,
        uint256 gasPerToken
    ) external view returns (Holding[] memory holdings, uint256[] memory failed, uint256 next) {
        uint256 count = tokens.length;
        uint256[] memory indices = new uint256[](count);
        uint256[] memory balances = new uint256[](count);
        failed = new uint256[](count);
        uint256 held = 0;
        uint256 broken = 0;
        for (; next < count; ++next) {
            if (!_canAfford(gasPerToken, count, held, broken)) break;
            (bool answered, uint256 balance) = _balanceOf(tokens[next], wallet, gasPerToken);
            if (!answered) {
                failed[broken++] = next;
            } else if (balance != 0) {
                indices[held] = next;
                balances[held++] = balance;
            }
        }
        assembly ("memory-safe") {
            mstore(failed, broken)
        }
        holdings = new Holding[](held);
        for (uint256 i = 0; i < held; ++i) {
            // The new array already holds empty structs: filling them takes no memory, new ones would.
            Holding memory holding = holdings[i];
            holding.index = indices[i];
            holding.balance = balances[i];
        }
    }

    // Only one word is ever copied back, so a large answer costs its sender and not the scan.
    function _balanceOf(
        address token,
        address wallet,
        uint256 gasPerToken
    ) private view returns (bool answered, uint256 amount) {
        bytes memory query = abi.encodeCall(IERC20.balanceOf, (wallet));
        assembly ("memory-safe") {
            let succeeded := staticcall(gasPerToken, token, add(query, 0x20), mload(query), 0x00, 0x20)
            answered := and(succeeded, gt(returndatasize(), 0x1f))
            amount := mload(0x00)
            // The query is not needed again: give its memory back, or it would grow with every token.
            mstore(0x40, query)
        }
    }

    // A call forwards at most 63/64 of the gas left, so the token would silently get less than its share when gas
    // runs low, and what remains must still pay for the answer.
    function _canAfford(
        uint256 gasPerToken,
        uint256 count,
        uint256 held,
        uint256 broken
    ) private view returns (bool) {
        uint256 available = gasleft();
        if (gasPerToken > available) return false;
        uint256 used = 3 * count + 64;
        uint256 grown = used + WORDS_PER_HOLDING * (held + 1) + WORDS_PER_FAILURE * (broken + 1);
        uint256 reserve = GAS_FIXED +
            GAS_PER_ENTRY *
            (held + broken + 1) +
            (_memoryGas(grown) - _memoryGas(used));
        return available > reserve && available - reserve > gasPerToken + gasPerToken / 63;
    }

    function _memoryGas(uint256 words) private pure returns (uint256) {
        return 3 * words + (words * words) / 512;
    }
}
