package io.fibry.engine.scope;

import io.fibry.ActorScope;
import io.fibry.ActorScope.Options;
import io.fibry.engine.cell.Accounts;
import io.fibry.engine.jvm.EngineClasses;
import io.fibry.support.Patience;
import java.util.List;
import java.util.function.UnaryOperator;

/** Creates scopes for tests, and gives tests access to the internal state of a scope. */
public final class Scopes {
  private Scopes() {}

  /** Creates a scope without a parent. */
  public static ActorScope root(String name, Options options) {
    EngineClasses.initialize();
    return new Scope(name, options, null);
  }

  public static List<Object> members(ActorScope scope) {
    return ((Scope) scope).members();
  }

  /** Returns whether the scope is a member of the root scope of the process. */
  public static boolean isInRoot(ActorScope scope) {
    return Scope.ProcessRoot.SCOPE.members().contains(scope);
  }

  public static void forgetLettersOfRoot() {
    Scope.ProcessRoot.SCOPE.accounts().forgetLetters();
  }

  /** Waits until the scope has neither actors nor scopes within it. */
  public static void awaitNoActors(ActorScope scope) {
    Patience.eventually(() -> scope.dump().lines().count() == 1);
  }

  public static Options options(ActorScope scope) {
    return ((Scope) scope).options();
  }

  public static void configure(ActorScope scope, UnaryOperator<Options> change) {
    ((Scope) scope).configure(change);
  }

  public static Accounts accounts(ActorScope scope) {
    return ((Scope) scope).accounts();
  }
}
