package io.fibry;

/**
 * A message that is answered: {@code record Balance() implements Account, Request<Balance, Long>}.
 * Its first type parameter is the request class itself, as with {@link Comparable}. The compiler
 * thus knows that {@code account.ask(new Balance())} returns a {@code Long}, and rejects a request
 * that does not belong to the messages of the actor.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="request"}
 *
 * @param <Q> the type of the request itself
 * @param <R> the type of the answer
 */
public interface Request<Q, R> {}
