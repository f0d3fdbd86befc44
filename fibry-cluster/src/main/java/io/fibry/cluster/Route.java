package io.fibry.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Where messages to an actor, or to the entities of a part, go to.
 *
 * @param name for people
 * @param mostTells messages that go together: where nodes share the work, it is shared in such
 *     pieces
 * @param subject of the messages
 * @param ids of messages that may arrive twice, by way of the node that gave the part away; empty:
 *     none may
 * @param absent says why nobody gets them at the moment; empty: a node should, so it is tried
 *     again
 */
record Route(String name, int mostTells, String subject, Optional<Supplier<String>> ids,
    Supplier<Optional<String>> absent) {
  static final int MANY_TELLS = 256;
  private static final int FEW_TELLS = 8;
  static final String KEY = "Fb-K";
  static final String KEEP = "Fb-Keep"; // its sender is told whether it is stored
  static final String TELLS = "Fb-N"; // that nobody waits for; so many
  static final String LOOK = "Fb-Look"; // something waits at the store
  static final String ID = "Fb-Id";
  static final String TIME_LEFT = "Fb-Ttl"; // milliseconds
  static final String ASKERS = "Fb-Chain"; // who waits for the answer

  static Route toName(String name, String subject) {
    return new Route("far " + name, FEW_TELLS, subject, Optional.empty(), () -> Optional.of("no node offers it"));
  }

  Map<String, String> headers(Optional<String> key) {
    var headers = new HashMap<String, String>();
    key.ifPresent(text -> headers.put(KEY, text));
    ids.ifPresent(next -> headers.put(ID, next.get()));
    return headers;
  }
}
