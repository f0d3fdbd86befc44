package io.fibry;

import io.fibry.engine.scope.Scope;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The root scope, as static methods. Its actors without a name are not tracked: unreferenced and
 * idle, they are garbage, their hooks unrun. It is not drained when the JVM ends. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="system"}
 */
public final class ActorSystem {
  private ActorSystem() {}

  /**
   * For actors without a name.
   *
   * @return a builder
   */
  public static ActorBuilder<Object> anonymous() {
    return Scope.ROOT.anonymous();
  }

  /**
   * For an actor with this name, unique among the living of the scope.
   *
   * @param name not blank
   * @return a builder
   */
  public static ActorBuilder<Object> named(String name) {
    return Scope.ROOT.named(name);
  }

  /**
   * The living actor that was made with this name and {@code protocol}.
   *
   * @param <M> its messages
   * @param name its name
   * @param protocol what it was made with
   * @return empty if there is none
   */
  public static <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    return Scope.ROOT.find(name, protocol);
  }

  /**
   * A new scope.
   *
   * @param name not blank; need not be unique
   * @return the scope, open
   */
  public static ActorScope openScope(String name) {
    return Scope.ROOT.openScope(name);
  }

  /**
   * A new scope.
   *
   * @param name not blank; need not be unique
   * @param options changes those of the root
   * @return the scope, open
   */
  public static ActorScope openScope(String name, UnaryOperator<ActorScope.Options> options) {
    return Scope.ROOT.openScope(name, options);
  }

  /**
   * What actors made from now on get, unless told otherwise.
   *
   * @param strategy {@link Strategy#FIBER}, unless changed
   */
  public static void setDefaultStrategy(Strategy strategy) {
    Objects.requireNonNull(strategy, "strategy");
    configure(options -> options.withStrategy(strategy));
  }

  /**
   * Changes the options of the root: strategy and mailbox for actors made from now on, the rest at
   * once.
   *
   * @param options answers changed ones
   */
  public static void configure(UnaryOperator<ActorScope.Options> options) {
    Scope.ROOT.configure(options);
  }

  /**
   * The root scope. Closing it ends what it tracks; itself it stays open.
   *
   * @return always the same one
   */
  public static ActorScope root() {
    return Scope.ROOT;
  }
}
