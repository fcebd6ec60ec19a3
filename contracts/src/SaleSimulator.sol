// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ISaleSimulator} from "./interfaces/ISaleSimulator.sol";

/// @title Sells tokens of a wallet into pools, one sale after another, and undoes each.
contract SaleSimulator is ISaleSimulator {
    /// @dev A call failed, whose reason may be anyone's words: nothing of it is passed on.
    error SaleFailed();

    // What is left after the last sale pays for the answer.
    uint256 private constant GAS_RESERVE = 100_000;

    // 0.3 % of what is sold.
    uint256 private constant FEE_BASE = 1_000;
    uint256 private constant AFTER_FEE = 997;

    /// @dev What the callback of a pool needs to know; given to the pool with the swap, and back by it.
    struct Context {
        address token;
        address quote;
        address pool;
        uint256 ownBefore;
        uint256 poolBefore;
        bool isQuoted;
    }

    /// @dev Pools of concentrated liquidity ask for the token by a callback, whose name differs between forks.
    // solhint-disable-next-line no-complex-fallback
    fallback() external {
        (int256 delta0, int256 delta1, bytes memory data) = abi.decode(msg.data[4:], (int256, int256, bytes));
        Context memory context = abi.decode(data, (Context));
        if (context.isQuoted) _revertWith(_proceeds(context));
        uint256 owed = uint256(delta0 > 0 ? delta0 : delta1);
        _call(context.token, abi.encodeWithSignature("transfer(address,uint256)", context.pool, owed));
    }

    /// @inheritdoc ISaleSimulator
    function simulate(
        Sale[] calldata sales,
        uint256 gasMax
    ) external returns (uint256[] memory proceeds) {
        uint256 count = sales.length;
        proceeds = new uint256[](count);
        uint256 made = 0;
        for (; made < count; ++made) {
            if (gasleft() < gasMax + gasMax / 63 + GAS_RESERVE) break;
            bytes memory query = abi.encodeCall(this.sell, (sales[made]));
            (bool succeeded, uint256 size, uint256 word) = _tryCall(gasMax, address(this), query);
            // Only `sell` itself reverts with one word.
            if (!succeeded && size == 0x20) proceeds[made] = word;
            assembly ("memory-safe") {
                // The query is not needed again.
                mstore(0x40, query)
            }
        }
        assembly ("memory-safe") {
            mstore(proceeds, made)
        }
    }

    /// @inheritdoc ISaleSimulator
    function sell(Sale calldata sale) external {
        Context memory context = Context({
            token: sale.token,
            quote: sale.quote,
            pool: sale.pool,
            ownBefore: _balanceOf(sale.quote, address(this)),
            poolBefore: _balanceOf(sale.quote, sale.pool),
            isQuoted: sale.isQuoted
        });
        uint256 amount = sale.amount;
        if (!sale.isQuoted) {
            uint256 held = _balanceOf(sale.token, address(this));
            if (held < amount) amount = held;
        }
        if (sale.kind == PoolKind.Concentrated) _sellConcentrated(sale, amount, context);
        else _sellToReserves(sale, amount);
        _revertWith(_proceeds(context));
    }

    function _sellConcentrated(Sale calldata sale, uint256 amount, Context memory context) private {
        bytes memory query = abi.encodeWithSignature(
            "swap(address,bool,int256,uint160,bytes)",
            address(this),
            sale.token < sale.quote,
            int256(amount),
            sale.sqrtPriceLimit,
            abi.encode(context)
        );
        (bool succeeded, uint256 size, uint256 word) = _tryCall(gasleft(), sale.pool, query);
        // The pool passes on what our callback reverts with.
        if (!succeeded && context.isQuoted && size == 0x20) _revertWith(word);
        if (!succeeded) revert SaleFailed();
    }

    // What the token takes for itself is not sold: the pool counts what has arrived.
    function _sellToReserves(Sale calldata sale, uint256 amount) private {
        (address token, address pool) = (sale.token, sale.pool);
        _call(token, abi.encodeWithSignature("transfer(address,uint256)", pool, amount));
        bool isTokenFirst = token < sale.quote;
        (uint256 first, uint256 second) = _reserves(pool);
        (uint256 reserve, uint256 quoteReserve) = isTokenFirst ? (first, second) : (second, first);
        uint256 received = _balanceOf(token, pool) - reserve;
        uint256 paid;
        if (sale.kind == PoolKind.ConstantProduct) {
            uint256 afterFee = received * AFTER_FEE;
            paid = (afterFee * quoteReserve) / (reserve * FEE_BASE + afterFee);
        } else {
            paid = _call(pool, abi.encodeWithSignature("getAmountOut(uint256,address)", received, token));
        }
        (uint256 out0, uint256 out1) = isTokenFirst ? (uint256(0), paid) : (paid, uint256(0));
        _call(pool, abi.encodeWithSignature("swap(uint256,uint256,address,bytes)", out0, out1, address(this), ""));
    }

    // A token could pay the wallet by itself, in a simulation only; so what the pool has lost counts as well.
    function _proceeds(Context memory context) private returns (uint256) {
        uint256 own = _balanceOf(context.quote, address(this));
        uint256 pool = _balanceOf(context.quote, context.pool);
        if (own < context.ownBefore || pool > context.poolBefore) return 0;
        uint256 received = own - context.ownBefore;
        uint256 paid = context.poolBefore - pool;
        return received < paid ? received : paid;
    }

    function _reserves(address pool) private returns (uint256 first, uint256 second) {
        _call(pool, abi.encodeWithSignature("getReserves()"));
        assembly ("memory-safe") {
            if lt(returndatasize(), 0x40) {
                revert(0x00, 0x00)
            }
            let free := mload(0x40)
            returndatacopy(free, 0x00, 0x40)
            first := mload(free)
            second := mload(add(free, 0x20))
        }
    }

    function _balanceOf(address token, address owner) private returns (uint256) {
        return _call(token, abi.encodeWithSignature("balanceOf(address)", owner));
    }

    /// @return word First word of what it returned; zero when it returned less.
    function _call(address target, bytes memory query) private returns (uint256 word) {
        bool succeeded;
        (succeeded, , word) = _tryCall(gasleft(), target, query);
        if (!succeeded) revert SaleFailed();
    }

    // Copies one word at most, however much comes back.
    function _tryCall(
        uint256 gasMax,
        address target,
        bytes memory query
    ) private returns (bool succeeded, uint256 size, uint256 word) {
        assembly ("memory-safe") {
            succeeded := call(gasMax, target, 0, add(query, 0x20), mload(query), 0x00, 0x00)
            size := returndatasize()
            if gt(size, 0x1f) {
                returndatacopy(0x00, 0x00, 0x20)
                word := mload(0x00)
            }
        }
    }

    function _revertWith(uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(0x00, word)
            revert(0x00, 0x20)
        }
    }
}
