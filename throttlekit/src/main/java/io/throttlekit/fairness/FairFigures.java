package io.throttlekit.fairness;

/**
 * A pool at one moment, and its counts since it was created. Amounts are parts, see {@link
 * FairTerms}.
 *
 * @param listed active tenants with a listed weight
 * @param unlisted active tenants without one
 * @param granted what the pool has to divide in this window
 * @param used charged in this window, also to tenants that have been evicted since
 * @param reserved what active tenants have not used of their guarantees; may exceed what is left,
 *     after a tenant has joined
 * @param borrowed admitted beyond guarantees, since the start
 * @param refused costs of refused requests, since the start
 * @param evicted tenants that were forgotten while they had a reserve, since the start
 */
public record FairFigures(
    int listed,
    int unlisted,
    long granted,
    long used,
    long reserved,
    long borrowed,
    long refused,
    long evicted) {}
