package io.fibry;

import io.fibry.engine.scope.Scope;
import io.fibry.spi.ForwardingExitable;
import io.fibry.spi.LastingAddress;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The root scope, as static methods. It does not track its unnamed actors: idle and unreferenced,
 * they are garbage, their hooks unrun. It is not drained when the JVM ends. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="system"}
 */
public final class ActorSystem {
  private ActorSystem() {}

  /** {@return a builder of actors without a name} */
  public static ActorBuilder<Object> anonymous() {
    return Scope.root().anonymous();
  }

  /**
   * {@return a builder of an actor with this name}
   *
   * @param name unique among living actors; not blank
   */
  public static ActorBuilder<Object> named(String name) {
    return Scope.root().named(name);
  }

  /**
   * {@return the living actor made with this name and {@code protocol}, if any}
   *
   * @param <M> messages
   * @param name of the actor
   * @param protocol of the actor
   */
  public static <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    return Scope.root().find(name, protocol);
  }

  /**
   * {@return a new, open scope}
   *
   * @param name not blank; need not be unique
   */
  public static ActorScope openScope(String name) {
    return Scope.root().openScope(name);
  }

  /**
   * {@return a new, open scope}
   *
   * @param name not blank; need not be unique
   * @param options changes the root's
   */
  public static ActorScope openScope(String name, UnaryOperator<ActorScope.Options> options) {
    return Scope.root().openScope(name, options);
  }

  /**
   * {@return a builder of actors in the scope of another actor} They have the clock, the limit and
   * the carriers of that scope, and their dead letters go to it.
   *
   * @param actor or a block, or an address; an implementation of your own is in the root scope
   */
  public static ActorBuilder<Object> beside(Exitable actor) {
    if (actor instanceof LastingAddress address) return address.beside();
    if (actor instanceof ForwardingExitable<?> block) return beside(ForwardingExitable.targetOf(block));
    return Scope.siblingBuilder(Objects.requireNonNull(actor, "actor"));
  }

  /**
   * Sets the strategy of new actors without their own.
   *
   * @param strategy {@link Strategy#FIBER} unless changed
   */
  public static void setDefaultStrategy(Strategy strategy) {
    Objects.requireNonNull(strategy, "strategy");
    configure(options -> options.withStrategy(strategy));
  }

  /**
   * Changes the root's options: strategy and mailbox for new actors, the rest at once.
   *
   * @param options returns changed ones
   */
  public static void configure(UnaryOperator<ActorScope.Options> options) {
    Scope.root().configure(options);
  }

  /** {@return the root scope; closing ends what it tracks, but it stays open} */
  public static ActorScope root() {
    return Scope.root();
  }
}
