package io.fibry.engine.scope;

import io.fibry.ActorScope;
import io.fibry.ActorScope.Options;
import java.util.List;

/** Scopes for tests: each is a root of its own. */
public final class Scopes {
  private Scopes() {}

  public static Scope root(String name, Options options) {
    return new Scope(name, options, null);
  }

  public static List<Object> members(ActorScope scope) {
    return ((Scope) scope).members();
  }
}
