package io.fibry.nats;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the nodes of an app must be allowed to send and to hear. */
final class Permissions {
  private static final List<String> OF_STREAMS =
      List.of("STREAM.INFO.%s", "STREAM.CREATE.%s", "STREAM.MSG.GET.%s", "STREAM.PURGE.%s", "DIRECT.GET.%s",
          "CONSUMER.CREATE.%s", "CONSUMER.CREATE.%s.>", "CONSUMER.DELETE.%s.>");
  private static final List<String> OF_WORK =
      List.of("$JS.API.STREAM.MSG.DELETE.%s", "$JS.API.CONSUMER.MSG.NEXT.%s.>", "$JS.ACK.%s.>");

  private Permissions() {}

  /** In the form of a server's configuration. */
  static String of(String app) {
    var calls = Stream.of(NatsTable.stream(app), new LogSubjects(app).stream(), NatsQueue.stream(app))
        .flatMap(stream -> OF_STREAMS.stream().map(call -> "$JS.API." + call.formatted(stream)));
    var work = OF_WORK.stream().map(call -> call.formatted(NatsQueue.stream(app)));
    var own = Stream.of("fb." + app + ".>", NatsTable.subjects(app) + ">", "$JS.API.INFO",
        "$JS.FC." + NatsTable.stream(app) + ".>");
    return "publish: { allow: [" + quoted(Stream.of(own, calls, work).flatMap(all -> all))
        + "] }\nsubscribe: { allow: ["
        + quoted(Stream.of("fb." + app + ".>")) + "] }\n";
  }

  private static String quoted(Stream<String> subjects) {
    return subjects.map(one -> '"' + one + '"').collect(Collectors.joining(", "));
  }
}
