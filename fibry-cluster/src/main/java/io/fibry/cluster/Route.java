package io.fibry.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Where messages to an actor, or to the entities of a part, go to.
 *
 * @param subject of the messages
 * @param ids of messages that may arrive twice, by way of the node that gave the part away; empty:
 *     none may
 * @param absent says why nobody gets them at the moment; empty: a node should, so it is tried
 *     again
 */
record Route(String subject, Optional<Supplier<String>> ids, Supplier<Optional<String>> absent) {
  static final String KEY = "Fb-K";
  static final String KEEP = "Fb-Keep"; // its sender is told whether it is stored
  static final String LOOK = "Fb-Look"; // something waits at the store
  static final String ID = "Fb-Id";
  static final String TIME_LEFT = "Fb-Ttl"; // milliseconds

  static Route toName(String subject) {
    return new Route(subject, Optional.empty(), () -> Optional.of("no node offers it"));
  }

  Map<String, String> headers(Optional<String> key) {
    var headers = new HashMap<String, String>();
    key.ifPresent(text -> headers.put(KEY, text));
    ids.ifPresent(next -> headers.put(ID, next.get()));
    return headers;
  }
}
