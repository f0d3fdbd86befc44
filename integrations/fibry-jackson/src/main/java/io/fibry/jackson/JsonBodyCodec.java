package io.fibry.jackson;

import io.fibry.net.BodyCodec;
import java.util.Objects;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes and reads bodies of HTTP as JSON, with a mapper of your own. Thread-safe.
 * {@snippet class="io.fibry.jackson.JavadocSnippetsTest" region="bodies"}
 */
public final class JsonBodyCodec implements BodyCodec {
  private final JsonMapper mapper;

  private JsonBodyCodec(JsonMapper mapper) {
    this.mapper = mapper;
  }

  /**
   * Makes a codec with the settings of a mapper.
   *
   * @param mapper the mapper, which reads and writes all bodies
   * @return a codec for {@code HttpRoutes.withBodyCodec}
   */
  public static JsonBodyCodec of(JsonMapper mapper) {
    return new JsonBodyCodec(Objects.requireNonNull(mapper, "mapper"));
  }

  @Override
  public String mediaType() {
    return "application/json";
  }

  @Override
  public <T> T read(byte[] body, Class<T> type) {
    return mapper.readValue(body, type);
  }

  @Override
  public byte[] write(Object object) {
    return mapper.writeValueAsBytes(object);
  }
}
