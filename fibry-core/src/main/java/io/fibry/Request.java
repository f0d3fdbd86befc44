package io.fibry;

/**
 * A message that is answered: {@code record Balance() implements Account, Request<Balance, Long>}.
 * The record names itself, as with {@link Comparable}, so that {@code account.ask(new Balance())}
 * is a {@code long}, and a request of another protocol does not compile.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="request"}
 *
 * @param <Q> the request itself
 * @param <R> its answer
 */
public interface Request<Q, R> {}
