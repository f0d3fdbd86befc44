package io.fibry.web;

import io.fibry.ActorScope;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;

/**
 * Runs the shop behind the server that the first argument names, at the port of the second. Order a
 * hat by {@code curl -d hat localhost:8080/orders}, and see the news by
 * {@code curl -N localhost:8080/news}.
 */
final class Main {
  private Main() {}

  public static void main(String[] arguments) throws InterruptedException {
    var shop = open(arguments[0], Integer.parseInt(arguments[1]));
    // one hook for all steps, because the JVM runs several hooks at the same time
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      shop.close();
      var report = shop.shop().report();
      System.out.println(report.handled() + " handled of " + report.sent());
    }));
    System.out.println("http://localhost:" + shop.port() + "/news");
    new CountDownLatch(1).await(); // until the process is asked to end
  }

  private static RunningShop open(String server, int port) {
    UnaryOperator<ActorScope.Options> options = o -> o.withAskLimit(Duration.ofSeconds(2));
    return switch (server) {
      case "helidon" -> HelidonShop.open(Main::fetch, options, port);
      case "javalin" -> JavalinShop.open(Main::fetch, options, port);
      case "spring" -> SpringShop.open(Main::fetch, options, port);
      default -> throw new IllegalArgumentException(
          "there is no server '" + server + "'; name helidon, javalin or spring");
    };
  }

  private static String fetch(String item) throws InterruptedException {
    Thread.sleep(20);
    return "ordered " + item;
  }
}
