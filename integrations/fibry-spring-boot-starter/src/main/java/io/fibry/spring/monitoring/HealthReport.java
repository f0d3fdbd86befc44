package io.fibry.spring.monitoring;

import java.util.Map;

/**
 * The health of a part of the application, independent of the version of Spring Boot.
 *
 * @param status the code of a status of Spring Boot, such as {@code UP}
 */
record HealthReport(String status, Map<String, Object> details) {
  static final String UP = "UP";
  static final String OUT_OF_SERVICE = "OUT_OF_SERVICE";
  static final String DOWN = "DOWN";
}
