// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IAggregatorV3} from "../interfaces/IAggregatorV3.sol";

/// @title Lends one token against another without interest, for local chains.
/// @dev Our own code, not Morpho's. Only the views, `setAuthorization` and its event are those of Morpho Blue, with the
/// market as its own oracle, so that what reads Morpho Blue reads this market too.
contract LendingMarket {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @notice What an account has in the market, in the smallest units of the tokens.
    struct Account {
        uint128 supplied;
        uint128 borrowed;
        uint128 collateral;
    }

    /// @notice Id of the market: the hash of its parameters, as Morpho Blue computes it.
    bytes32 public immutable id;

    /// @notice Whether an account may act on the positions of another.
    mapping(address authorizer => mapping(address authorized => bool)) public isAuthorized;

    // Shares of an asset: they never earn, so Morpho's virtual first shares stay the rate.
    uint256 private constant SHARES = 1e6;
    uint256 private constant WAD = 1e18;
    uint256 private constant PRICE_SCALE = 1e36;
    // A liquidator gets a twentieth more than it pays.
    uint256 private constant LIQUIDATION_INCENTIVE = 1.05e18;

    IERC20 private immutable _loanToken;
    IERC20 private immutable _collateralToken;
    IAggregatorV3 private immutable _loanFeed;
    IAggregatorV3 private immutable _collateralFeed;
    uint256 private immutable _priceFactor;
    uint256 private immutable _lltv;

    uint128 private _totalSupplied;
    uint128 private _totalBorrowed;
    mapping(address account => Account) private _accounts;

    /// @notice An account let another act on its positions, or no longer does.
    /// @param caller Who sent the call.
    /// @param authorizer Account that has the positions.
    /// @param authorized Account that may act on them.
    /// @param newIsAuthorized Whether it may from now on.
    event SetAuthorization(
        address indexed caller,
        address indexed authorizer,
        address indexed authorized,
        bool newIsAuthorized
    );

    /// @notice The caller is neither the account nor authorized by it.
    error Unauthorized();

    /// @notice The collateral does not secure the debt.
    error InsufficientCollateral();

    /// @notice More is borrowed than would stay in the market.
    error InsufficientLiquidity();

    /// @notice The collateral secures the debt, so that no account may take it.
    error HealthyPosition();

    /// @param loanToken Token that is lent.
    /// @param collateralToken Token that secures debts.
    /// @param loanFeed Price of the loan token.
    /// @param collateralFeed Price of the collateral, with as many decimals.
    /// @param priceScale Decimals of the loan token less those of the collateral, and 36 more.
    /// @param lltv Part of the collateral's value up to which a debt is safe, with 18 decimals.
    constructor(
        IERC20 loanToken,
        IERC20 collateralToken,
        IAggregatorV3 loanFeed,
        IAggregatorV3 collateralFeed,
        uint256 priceScale,
        uint256 lltv
    ) {
        _loanToken = loanToken;
        _collateralToken = collateralToken;
        _loanFeed = loanFeed;
        _collateralFeed = collateralFeed;
        _priceFactor = 10 ** priceScale;
        _lltv = lltv;
        id = keccak256(abi.encode(loanToken, collateralToken, address(this), address(0), lltv));
    }

    /// @notice Lets an account act on the positions of the caller, or ends that.
    /// @param authorized The account.
    /// @param newIsAuthorized Whether it may.
    function setAuthorization(address authorized, bool newIsAuthorized) external {
        isAuthorized[msg.sender][authorized] = newIsAuthorized;
        emit SetAuthorization(msg.sender, msg.sender, authorized, newIsAuthorized);
    }

    /// @notice Lends tokens of the caller.
    /// @param assets Amount.
    function supply(uint256 assets) external {
        _accounts[msg.sender].supplied += assets.toUint128();
        _totalSupplied += assets.toUint128();
        _loanToken.safeTransferFrom(msg.sender, address(this), assets);
    }

    /// @notice Pays back what an account lent; for it or for who it authorized.
    /// @param assets Amount.
    /// @param onBehalf The account.
    /// @param receiver Who gets the tokens.
    function withdraw(uint256 assets, address onBehalf, address receiver) external {
        _requireAuthorized(onBehalf);
        _accounts[onBehalf].supplied -= assets.toUint128();
        _totalSupplied -= assets.toUint128();
        if (_totalBorrowed > _totalSupplied) revert InsufficientLiquidity();
        _loanToken.safeTransfer(receiver, assets);
    }

    /// @notice Adds collateral of the caller.
    /// @param assets Amount.
    function supplyCollateral(uint256 assets) external {
        _accounts[msg.sender].collateral += assets.toUint128();
        _collateralToken.safeTransferFrom(msg.sender, address(this), assets);
    }

    /// @notice Takes collateral that the debt does not need; for the account or for who it authorized.
    /// @param assets Amount.
    /// @param onBehalf The account.
    /// @param receiver Who gets the tokens.
    function withdrawCollateral(uint256 assets, address onBehalf, address receiver) external {
        _requireAuthorized(onBehalf);
        _accounts[onBehalf].collateral -= assets.toUint128();
        if (!_isHealthy(onBehalf)) revert InsufficientCollateral();
        _collateralToken.safeTransfer(receiver, assets);
    }

    /// @notice Borrows against the collateral of an account; for it or for who it authorized.
    /// @param assets Amount.
    /// @param onBehalf The account.
    /// @param receiver Who gets the tokens.
    function borrow(uint256 assets, address onBehalf, address receiver) external {
        _requireAuthorized(onBehalf);
        _accounts[onBehalf].borrowed += assets.toUint128();
        _totalBorrowed += assets.toUint128();
        if (!_isHealthy(onBehalf)) revert InsufficientCollateral();
        if (_totalBorrowed > _totalSupplied) revert InsufficientLiquidity();
        _loanToken.safeTransfer(receiver, assets);
    }

    /// @notice Pays debt of an account with tokens of the caller.
    /// @param assets Amount.
    /// @param onBehalf The account.
    function repay(uint256 assets, address onBehalf) external {
        _reduceDebt(assets, onBehalf);
        _loanToken.safeTransferFrom(msg.sender, address(this), assets);
    }

    /// @notice Pays debt that is no longer secured, and takes collateral for it.
    /// @param borrower The account.
    /// @param assets Amount of the debt.
    /// @return seized Amount of the collateral.
    function liquidate(address borrower, uint256 assets) external returns (uint256 seized) {
        if (_isHealthy(borrower)) revert HealthyPosition();
        uint256 worth = Math.mulDiv(assets, LIQUIDATION_INCENTIVE, WAD);
        seized = Math.min(Math.mulDiv(worth, PRICE_SCALE, price()), _accounts[borrower].collateral);
        _accounts[borrower].collateral -= seized.toUint128();
        _reduceDebt(assets, borrower);
        _loanToken.safeTransferFrom(msg.sender, address(this), assets);
        _collateralToken.safeTransfer(msg.sender, seized);
    }

    /// @notice Parameters of the market; zeros for another id.
    /// @param marketId Id of the market.
    /// @return loanToken Token that is lent.
    /// @return collateralToken Token that secures debts.
    /// @return oracle Contract that says the price: this one.
    /// @return irm Model of interest: none.
    /// @return lltv Part of the collateral's value up to which a debt is safe.
    function idToMarketParams(
        bytes32 marketId
    )
        external
        view
        returns (address loanToken, address collateralToken, address oracle, address irm, uint256 lltv)
    {
        if (marketId != id) return (address(0), address(0), address(0), address(0), 0);
        return (address(_loanToken), address(_collateralToken), address(this), address(0), _lltv);
    }

    /// @notice State of the market; zeros for another id.
    /// @param marketId Id of the market.
    /// @return totalSupplyAssets Lent to the market.
    /// @return totalSupplyShares The same in shares.
    /// @return totalBorrowAssets Borrowed from the market.
    /// @return totalBorrowShares The same in shares.
    /// @return lastUpdate Time up to which interest is counted: now, because the market has no interest.
    /// @return fee Part of the interest that is kept: none.
    function market(
        bytes32 marketId
    )
        external
        view
        returns (
            uint128 totalSupplyAssets,
            uint128 totalSupplyShares,
            uint128 totalBorrowAssets,
            uint128 totalBorrowShares,
            uint128 lastUpdate,
            uint128 fee
        )
    {
        if (marketId != id) return (0, 0, 0, 0, 0, 0);
        totalSupplyAssets = _totalSupplied;
        totalBorrowAssets = _totalBorrowed;
        totalSupplyShares = (totalSupplyAssets * SHARES).toUint128();
        totalBorrowShares = (totalBorrowAssets * SHARES).toUint128();
        lastUpdate = uint128(block.timestamp);
    }

    /// @notice What an account has in the market; zeros for another id.
    /// @param marketId Id of the market.
    /// @param account The account.
    /// @return supplyShares Shares of what is lent.
    /// @return borrowShares Shares of what is borrowed.
    /// @return collateral Amount that secures the debt.
    function position(
        bytes32 marketId,
        address account
    ) external view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral) {
        if (marketId != id) return (0, 0, 0);
        Account storage own = _accounts[account];
        return (own.supplied * SHARES, (own.borrowed * SHARES).toUint128(), own.collateral);
    }

    /// @notice Number of authorizations that an account signed: none, they are sent here.
    /// @return count Zero.
    function nonce(address) external pure returns (uint256 count) {
        return 0;
    }

    /// @notice Price of a unit of collateral in units of the loan token, with 36 decimals, by the two feeds.
    /// @return scaledPrice The price.
    function price() public view returns (uint256 scaledPrice) {
        (, int256 collateralAnswer, , , ) = _collateralFeed.latestRoundData();
        (, int256 loanAnswer, , , ) = _loanFeed.latestRoundData();
        return Math.mulDiv(_priceFactor, SafeCast.toUint256(collateralAnswer), SafeCast.toUint256(loanAnswer));
    }

    function _reduceDebt(uint256 assets, address account) private {
        _accounts[account].borrowed -= assets.toUint128();
        _totalBorrowed -= assets.toUint128();
    }

    function _requireAuthorized(address account) private view {
        if (msg.sender != account && !isAuthorized[account][msg.sender]) revert Unauthorized();
    }

    function _isHealthy(address account) private view returns (bool) {
        Account storage own = _accounts[account];
        if (own.borrowed == 0) return true;
        uint256 value = Math.mulDiv(own.collateral, price(), PRICE_SCALE);
        return own.borrowed <= Math.mulDiv(value, _lltv, WAD);
    }
}
