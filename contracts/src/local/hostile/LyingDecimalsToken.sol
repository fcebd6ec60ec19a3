// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Token with honest balances and decimals that do not fit a byte, or change at will.
/// @dev Until set, decimals() answers 274, which a careless reader cuts to an innocent 18.
contract LyingDecimalsToken {
    /// @notice Name of the token.
    string public constant name = "Lying Decimals";

    /// @notice Symbol of the token.
    string public constant symbol = "LIAR";

    /// @notice Balances of the token.
    mapping(address account => uint256) public balanceOf;

    /// @notice Number of tokens there are.
    uint256 public totalSupply;

    uint256 private _shift;

    /// @notice Tokens moved.
    /// @param from Who gave them.
    /// @param to Who received them.
    /// @param value How many.
    event Transfer(address indexed from, address indexed to, uint256 value);

    /// @notice Creates tokens; open to anyone.
    /// @param to Who receives them.
    /// @param amount How many.
    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    /// @notice Chooses what decimals() answers from now on; open to anyone.
    /// @param answer The answer.
    function setDecimals(uint256 answer) external {
        unchecked {
            _shift = answer - 274;
        }
    }

    /// @notice What the token claims.
    /// @return The claim.
    function decimals() external view returns (uint256) {
        unchecked {
            return 274 + _shift;
        }
    }
}
