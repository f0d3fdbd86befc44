package io.fibry;

/**
 * A message that is answered: {@code record Balance() implements Account, Request<Balance, Long>}.
 * It names itself, as with {@link Comparable}: so {@code account.ask(new Balance())} is a
 * {@code long}, and another protocol's request does not compile.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="request"}
 *
 * @param <Q> the request itself
 * @param <R> answer
 */
public interface Request<Q, R> {}
