package io.fibry.simulation.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests which frames of a waiting thread a report shows. */
class ThreadReportTest {
  private static StackTraceElement frame(String module, String type) {
    return new StackTraceElement(null, module, null, type, "call", "Source.java", 7);
  }

  private static List<String> shownTypes(StackTraceElement... stack) {
    return ThreadReport.shownFrames(stack).stream().map(StackTraceElement::getClassName).toList();
  }

  @Test
  void reportShowsUsersCodeAboveAndBelowJdk() {
    var jdk = Stream.of(frame("java.base", "sun.nio.ch.NioSocketImpl"), frame("jdk.httpserver", "com.sun.net.Server"),
        frame("java.sql", "javax.sql.Source"), frame("java.base", "java.lang.Thread"),
        frame(null, "io.fibry.simulation.tap.SocketTap"), frame(null, "io.fibry.engine.cell.Activation"));
    var user = Stream.of(frame(null, "com.shop.Orders"), frame(null, "com.shop.Main"), frame(null, "com.shop.Start"));

    assertEquals(List.of("com.shop.Orders", "com.shop.Main"),
        shownTypes(Stream.concat(jdk, user).toArray(StackTraceElement[]::new)));
  }

  @Test
  void reportShowsFibryIfStackHasNoCodeOfUser() {
    assertEquals(List.of("io.fibry.engine.cell.Activation"),
        shownTypes(frame("java.base", "sun.nio.ch.Poller"), frame(null, "io.fibry.engine.cell.Activation")));
  }
}
