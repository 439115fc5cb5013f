//! How the services differ (models.md 12.1): suggested by provider and address, overridden by the model's `compat`.

use crate::model::Model;
use tidehold_delta::Json;

/// The flags of one model, named after those of models.md 12.1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compat {
    pub supports_store: bool,
    pub supports_developer_role: bool,
    pub supports_reasoning_effort: bool,
    pub supports_usage_in_streaming: bool,
    pub supports_finish_reason: bool,
    pub max_tokens_field: String,
    pub thinking_format: String,
    pub requires_reasoning_content: bool,
    pub requires_tool_result_name: bool,
    pub requires_assistant_after_tool_result: bool,
    pub requires_non_null_content: bool,
    pub requires_tools_with_history: bool,
    pub requires_thinking_as_text: bool,
    pub zai_tool_stream: bool,
    pub supports_strict_mode: bool,
    pub supports_grammar_tools: bool,
    pub supports_mid_system: bool,
    pub supports_mid_tool_additions: bool,
    pub thinking_budget_field: Option<String>,
    pub cache_control: bool,
    pub session_headers: bool,
    pub session_format: String,
    pub supports_long_retention: bool,
    pub prompt_cache_key: String,
    pub chat_template_kwargs: Option<Json>,
    pub chat_template_args: Option<Json>,
    pub open_router_routing: Option<Json>,
    pub vercel_routing: Option<Json>,
    pub vllm_priority: Option<Json>,
}

/// Services that are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    AntLing,
    Cerebras,
    Chutes,
    CloudflareGateway,
    CloudflareWorkersAi,
    DeepSeek,
    Moonshot,
    Nvidia,
    OpenRouter,
    OpenCode,
    Together,
    Xai,
    Zai,
    Other,
}

/// Provider name (a prefix of it) and parts of addresses.
const SERVICES: &[(Service, &str, &[&str])] = &[
    (
        Service::CloudflareGateway,
        "cloudflare-ai-gateway",
        &["gateway.ai.cloudflare.com"],
    ),
    (
        Service::CloudflareWorkersAi,
        "cloudflare-workers-ai",
        &["api.cloudflare.com"],
    ),
    (Service::OpenRouter, "openrouter", &["openrouter.ai"]),
    (Service::Moonshot, "moonshotai", &["api.moonshot."]),
    (Service::DeepSeek, "deepseek", &["deepseek.com"]),
    (Service::Zai, "zai", &["api.z.ai", "open.bigmodel.cn"]),
    (
        Service::Together,
        "together",
        &["api.together.ai", "api.together.xyz"],
    ),
    (Service::Nvidia, "nvidia", &["integrate.api.nvidia.com"]),
    (Service::AntLing, "ant-ling", &["api.ant-ling.com"]),
    (Service::Cerebras, "cerebras", &["cerebras.ai"]),
    (Service::Xai, "xai", &["api.x.ai"]),
    (Service::Chutes, "chutes", &["chutes.ai"]),
    (Service::OpenCode, "opencode", &["opencode.ai"]),
];

fn service(model: &Model) -> Service {
    let matches = |(_, provider, hosts): &&(Service, &str, &[&str])| {
        model.provider.starts_with(provider) || hosts.iter().any(|host| model.base_url.contains(host))
    };
    SERVICES
        .iter()
        .find(matches)
        .map_or(Service::Other, |(service, ..)| *service)
}

/// The flags of a model.
pub(super) fn compat(model: &Model) -> Compat {
    use Service::*;
    let service = service(model);
    let is = |services: &[Service]| services.contains(&service);
    let said = |name: &str| model.compat.as_ref().and_then(|compat| compat.get(name));
    let flag = |name: &str, default: bool| said(name).and_then(Json::as_bool).unwrap_or(default);
    let text = |name: &str, default: &str| said(name).and_then(Json::as_str).unwrap_or(default).to_owned();
    let value = |name: &str| said(name).filter(|value| !value.is_null()).cloned();
    let bare = [CloudflareGateway, Together, Nvidia, AntLing, Moonshot, Zai];
    let official = model.provider == "openai" || model.base_url.contains("api.openai.com");
    let legacy_limit = is(&bare) || is(&[Chutes, DeepSeek]);
    let thinking_format = match service {
        DeepSeek => "deepseek",
        Zai => "zai",
        Together => "together",
        AntLing => "ant-ling",
        OpenRouter => "openrouter",
        _ => "openai",
    };
    let anthropic_behind = service == OpenRouter && model.wire_id().starts_with("anthropic/");
    let budget_field = value("thinkingTokenBudgetField").and_then(|field| field.as_str().map(str::to_owned));
    Compat {
        supports_store: flag(
            "supportsStore",
            !is(&bare) && !is(&[Cerebras, Xai, Chutes, DeepSeek, OpenCode, CloudflareWorkersAi]),
        ),
        supports_developer_role: flag("supportsDeveloperRole", official),
        supports_reasoning_effort: flag("supportsReasoningEffort", !is(&bare) && service != Xai),
        supports_usage_in_streaming: flag("supportsUsageInStreaming", true),
        supports_finish_reason: flag("supportsFinishReason", true),
        max_tokens_field: text(
            "maxTokensField",
            if legacy_limit {
                "max_tokens"
            } else {
                "max_completion_tokens"
            },
        ),
        thinking_format: text("thinkingFormat", thinking_format),
        requires_reasoning_content: flag("requiresReasoningContentOnAssistantMessages", service == DeepSeek),
        requires_tool_result_name: flag("requiresToolResultName", false),
        requires_assistant_after_tool_result: flag("requiresAssistantAfterToolResult", false),
        requires_non_null_content: flag("requiresNonNullAssistantContent", false),
        requires_tools_with_history: flag("requiresToolsWithToolHistory", false),
        requires_thinking_as_text: flag("requiresThinkingAsText", false),
        zai_tool_stream: flag("zaiToolStream", false),
        supports_strict_mode: flag("supportsStrictMode", false),
        supports_grammar_tools: flag("supportsOpenAIGrammarTools", false),
        supports_mid_system: flag("supportsMidConvoSystemMessages", false),
        supports_mid_tool_additions: flag("supportsMidConvoToolAdditions", false),
        thinking_budget_field: budget_field.or_else(|| {
            flag("supportsThinkingTokenBudget", false).then(|| "thinking_token_budget".to_owned())
        }),
        cache_control: text(
            "cacheControlFormat",
            if anthropic_behind { "anthropic" } else { "" },
        ) == "anthropic",
        session_headers: flag("sendSessionAffinityHeaders", service == OpenRouter),
        session_format: text(
            "sessionAffinityFormat",
            if service == OpenRouter {
                "openrouter"
            } else {
                "openai"
            },
        ),
        supports_long_retention: flag(
            "supportsLongCacheRetention",
            !is(&[Together, CloudflareWorkersAi, CloudflareGateway, Nvidia, AntLing]),
        ),
        prompt_cache_key: text("promptCacheKeyMode", "auto"),
        chat_template_kwargs: value("chatTemplateKwargs"),
        chat_template_args: value("chatTemplateArgs"),
        open_router_routing: value("openRouterRouting"),
        vercel_routing: value("vercelGatewayRouting"),
        vllm_priority: value("vllmPriority"),
    }
}
