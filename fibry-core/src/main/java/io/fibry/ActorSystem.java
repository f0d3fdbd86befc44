package io.fibry;

import io.fibry.engine.scope.Scope;
import io.fibry.spi.ForwardingExitable;
import io.fibry.spi.StableAddress;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Gives access to the root scope by static methods. The root scope does not track its unnamed
 * actors. If such an actor is idle and unreachable, it is garbage collected, and the code of its
 * {@code onStop}, {@code closeOnExit} and {@code onExit} does not run. When the JVM ends, queued
 * messages of the root scope are lost. Thread-safe.
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
   * @param name unique among the living actors of the root scope; not blank
   */
  public static ActorBuilder<Object> named(String name) {
    return Scope.root().named(name);
  }

  /**
   * {@return the living actor of the root scope with this name, or empty if there is none}
   *
   * @param <M> the type of the messages
   * @param name the name of the actor
   * @param protocol the type that was given to the actor's builder
   * @see ActorScope#find
   */
  public static <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    return Scope.root().find(name, protocol);
  }

  /**
   * {@return a new, open scope inside the root scope, with the same options}
   *
   * @param name not blank; need not be unique
   */
  public static ActorScope openScope(String name) {
    return Scope.root().openScope(name);
  }

  /**
   * {@return a new, open scope inside the root scope, with changed options}
   *
   * @param name not blank; need not be unique
   * @param options gets the options of the root scope, and returns the options of the new scope
   */
  public static ActorScope openScope(String name, UnaryOperator<ActorScope.Options> options) {
    return Scope.root().openScope(name, options);
  }

  /**
   * {@return a builder of actors in the scope of another actor} The new actors have the clock, the
   * ask limit and the context propagators of that scope, and their dead letters go to that scope.
   *
   * @param actor an actor, a block or an address; an actor of a class of your own counts as an
   * actor of the root scope
   */
  public static ActorBuilder<Object> beside(Exitable actor) {
    if (actor instanceof StableAddress address) return address.beside();
    if (actor instanceof ForwardingExitable<?> block) return beside(ForwardingExitable.targetOf(block));
    return Scope.siblingBuilder(Objects.requireNonNull(actor, "actor"));
  }

  /**
   * Sets the strategy of new actors of the root scope whose builder has no strategy.
   *
   * @param strategy by default {@link Strategy#FIBER}
   */
  public static void setDefaultStrategy(Strategy strategy) {
    Objects.requireNonNull(strategy, "strategy");
    configure(options -> options.withStrategy(strategy));
  }

  /**
   * Changes the options of the root scope. A changed strategy, mailbox or context propagator
   * applies to actors that are made after the change. All other options apply at once.
   *
   * @param options gets the present options, and returns the new options
   */
  public static void configure(UnaryOperator<ActorScope.Options> options) {
    Scope.root().configure(options);
  }

  /**
   * {@return the root scope} Closing the root scope ends the actors that it tracks; the scope stays
   * open.
   */
  public static ActorScope root() {
    return Scope.root();
  }
}
