package io.fibry.engine.scope;

import io.fibry.ActorScope;
import io.fibry.ActorScope.Options;
import io.fibry.engine.cell.Accounts;
import java.util.List;
import java.util.function.UnaryOperator;

/** Scopes for tests, and what tests see of a scope from inside. */
public final class Scopes {
  private Scopes() {}

  /** A root of its own. */
  public static ActorScope root(String name, Options options) {
    return new Scope(name, options, null);
  }

  public static List<Object> members(ActorScope scope) {
    return ((Scope) scope).members();
  }

  /** Whether the library's root remembers it. */
  public static boolean isInRoot(ActorScope scope) {
    return Scope.ROOT.members().contains(scope);
  }

  public static void forgetLettersOfRoot() {
    Scope.ROOT.accounts().forgetLetters();
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
