package io.fibry.web;

import io.fibry.ActorScope;
import io.fibry.Exitable;
import io.fibry.spring.ScopeCustomizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.PingMessage;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.handler.TextWebSocketHandler;

/**
 * The shop behind Spring MVC and Tomcat. The starter owns the scope, and maps refusals and late
 * answers to 503 and 504.
 */
@SpringBootApplication(proxyBeanMethods = false)
@EnableWebSocket
class SpringShop {
  static RunningShop open(Warehouse warehouse, UnaryOperator<ActorScope.Options> options, int port,
      String... properties) {
    var application = new SpringApplication(SpringShop.class);
    application.setRegisterShutdownHook(false); // Main closes the context
    application.setDefaultProperties(Map.of("server.port", port));
    application.addInitializers(context -> {
      var beans = (GenericApplicationContext) context;
      beans.registerBean(Warehouse.class, () -> warehouse);
      beans.registerBean(ScopeCustomizer.class, () -> options::apply);
    });
    var context = application.run(properties);
    var boundPort = context.getEnvironment().getProperty("local.server.port", Integer.class, port);
    return new RunningShop(context.getBean(Shop.class), boundPort, context::close);
  }

  @Bean
  static Shop shop(ActorScope scope, Warehouse warehouse) {
    return new Shop(scope, warehouse);
  }

  @Bean
  static WebSocketConfigurer sockets(Shop shop) {
    return registry -> registry.addHandler(new NewsSocket(shop), "/news/socket");
  }

  @RestController
  static class Routes {
    private final Shop shop;

    Routes(Shop shop) {
      this.shop = shop;
    }

    @PostMapping("/orders")
    String order(@RequestBody String item) {
      return shop.order(item);
    }

    @GetMapping(path = "/news", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter news() throws IOException {
      var emitter = new SseEmitter(0L); // no time limit
      emitter.send(SseEmitter.event().comment("open")); // the head of the response waits for a first event
      var subscriber = shop.subscribe(new Shop.Client() {
        @Override
        public void send(String text) throws IOException {
          emitter.send(text);
        }

        @Override
        public void ping() throws IOException {
          emitter.send(SseEmitter.event().comment("ping"));
        }
      });
      emitter.onCompletion(subscriber::askExit);
      subscriber.onExit().thenRunAsync(emitter::complete, Thread::startVirtualThread);
      return emitter;
    }

    /** Ends the streams before Tomcat waits for its running requests. */
    @EventListener(ContextClosedEvent.class)
    void endNews() {
      shop.endNews();
    }
  }

  private static final class NewsSocket extends TextWebSocketHandler {
    private static final String SUBSCRIBER = "subscriber";

    private final Shop shop;

    NewsSocket(Shop shop) {
      this.shop = shop;
    }

    @Override
    public void afterConnectionEstablished(WebSocketSession session) {
      var subscriber = shop.subscribe(new Shop.Client() {
        @Override
        public void send(String text) throws IOException {
          session.sendMessage(new TextMessage(text));
        }

        @Override
        public void ping() throws IOException {
          session.sendMessage(new PingMessage());
        }
      });
      session.getAttributes().put(SUBSCRIBER, subscriber);
      subscriber.onExit().thenRunAsync(() -> close(session), Thread::startVirtualThread);
    }

    @Override
    public void afterConnectionClosed(WebSocketSession session, CloseStatus status) {
      if (session.getAttributes().get(SUBSCRIBER) instanceof Exitable subscriber) subscriber.askExit();
    }

    private static void close(WebSocketSession session) {
      try {
        session.close(CloseStatus.GOING_AWAY);
      } catch (IOException disconnected) {
        throw new UncheckedIOException(disconnected);
      }
    }
  }
}
