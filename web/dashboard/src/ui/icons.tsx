import type { ReactNode } from "react";

// Icons have lines of 1.75 units on a grid of 24 and show at 18 pixels by default. Screen
// readers skip them, so each needs visible text or an aria-label.
function icon(content: ReactNode) {
  return function Icon({ size = 18 }: { size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.75"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        {content}
      </svg>
    );
  };
}

export const InboxIcon = icon(
  <path d="M3.5 13.5h4.6l1.4 2.6h5l1.4-2.6h4.6M5.8 5.5h12.4l2.3 8v4.2a1.8 1.8 0 0 1-1.8 1.8H5.3a1.8 1.8 0 0 1-1.8-1.8v-4.2z" />,
);
export const AppsIcon = icon(
  <>
    <rect x="4" y="4" width="6.5" height="6.5" rx="1.6" />
    <rect x="13.5" y="4" width="6.5" height="6.5" rx="1.6" />
    <rect x="4" y="13.5" width="6.5" height="6.5" rx="1.6" />
    <rect x="13.5" y="13.5" width="6.5" height="6.5" rx="1.6" />
  </>,
);
export const MentionIcon = icon(
  <path d="M15.8 12a3.8 3.8 0 1 1-1.1-2.7M15.8 8.3v4.9a2.3 2.3 0 0 0 4.6 0V12a8.4 8.4 0 1 0-3.3 6.7" />,
);
export const InsightsIcon = icon(<path d="M4 20h16M7 16v-4M12 16V5M17 16v-7" />);
export const TeamIcon = icon(
  <>
    <circle cx="9" cy="8.5" r="3.2" />
    <path d="M3.5 19c.6-3 2.8-4.7 5.5-4.7s4.9 1.7 5.5 4.7M15.8 5.7a3.2 3.2 0 0 1 0 5.7M17.5 14.7c1.7.7 2.7 2.2 3 4.3" />
  </>,
);
export const PersonIcon = icon(
  <>
    <circle cx="12" cy="8.5" r="3.5" />
    <path d="M5 19.5c.8-3.3 3.5-5.2 7-5.2s6.2 1.9 7 5.2" />
  </>,
);
export const SearchIcon = icon(
  <>
    <circle cx="11" cy="11" r="6.2" />
    <path d="m15.7 15.7 4.3 4.3" />
  </>,
);
export const PlusIcon = icon(<path d="M12 5v14M5 12h14" />);
export const CheckIcon = icon(<path d="m5 12.5 4.5 4.5L19 7.5" />);
export const CloseIcon = icon(<path d="m6.5 6.5 11 11M17.5 6.5l-11 11" />);
export const DownIcon = icon(<path d="m7 10 5 5 5-5" />);
export const NextIcon = icon(<path d="m10 7 5 5-5 5" />);
export const BackIcon = icon(<path d="M19 12H5.5M11 6l-6 6 6 6" />);
export const TrashIcon = icon(<path d="M4.5 7h15M9.5 7V4.8h5V7M6.5 7l.9 12.2h9.2L17.5 7M10.3 11v4.7M13.7 11v4.7" />);
export const UndoIcon = icon(<path d="M8.5 5 4.5 9l4 4M4.5 9h9a6 6 0 0 1 0 12H10" transform="translate(0 -1.5)" />);
export const MergeIcon = icon(<path d="M7 4v3.5c0 3 5 4 5 7.5v5M17 4v3.5c0 3-5 4-5 7.5M9.3 17.5 12 20.2l2.7-2.7" />);
export const TagIcon = icon(<><path d="M4.5 4.5h6.7l8.3 8.3-6.7 6.7-8.3-8.3z" /><circle cx="8.3" cy="8.3" r="1" /></>);
export const CalendarIcon = icon(<path d="M4.5 6.5h15v13h-15zM4.5 10.5h15M8.5 4v4M15.5 4v4" />);
export const HiddenIcon = icon(
  <>
    <path d="M9.5 6.3A9 9 0 0 1 12 6c4.5 0 7.5 3.5 8.5 6a11 11 0 0 1-2 3" />
    <path d="m5 5 14 14M14 17.8a9 9 0 0 1-2 .2c-4.5 0-7.5-3.5-8.5-6a11 11 0 0 1 3.3-4.2" />
  </>,
);
export const CommentIcon = icon(<path d="M4.5 5.5h15v10.5h-8l-4 3.5v-3.5h-3z" />);
export const ReplyIcon = icon(<path d="M19.5 5.5h-15v10.5h8l4 3.5v-3.5h3zM8.5 9h7M8.5 12.5h4" />);
export const VoteIcon = icon(<path d="m6 14.5 6-6 6 6" />);
export const ClipIcon = icon(
  <path d="m19 11.5-7.2 7.2a4.3 4.3 0 0 1-6.1-6.1l7.4-7.4a2.9 2.9 0 0 1 4.1 4.1l-7.2 7.2a1.4 1.4 0 0 1-2-2l6.5-6.5" />,
);
export const CopyIcon = icon(
  <>
    <rect x="8.5" y="8.5" width="11" height="11" rx="2" />
    <path d="M15.5 8.5v-2a2 2 0 0 0-2-2h-7a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h2" />
  </>,
);
export const MoreIcon = icon(<path d="M6 12h.01M12 12h.01M18 12h.01" strokeWidth="2.6" />);
export const FilterIcon = icon(<path d="M4.5 7h15M7.5 12h9M10.5 17h3" />);
export const SortIcon = icon(<path d="M8 5v13.5M4.5 15.5 8 19l3.5-3.5M16 19V5.5M12.5 8.5 16 5l3.5 3.5" />);
export const DownloadIcon = icon(<path d="M12 4.5v10.5M7.5 11l4.5 4.5 4.5-4.5M5 19.5h14" />);
export const ExternalIcon = icon(<path d="M13.5 5H19v5.5M19 5l-8 8M17 14v5H5V7h5" />);
export const HistoryIcon = icon(<path d="M4.5 12a7.5 7.5 0 1 0 2.4-5.5L4.5 8.8M4.5 4.5v4.3h4.3M12 8v4.3l3 1.8" />);
export const ShieldIcon = icon(<path d="M12 4 5.5 6.5v5c0 4 2.7 6.9 6.5 8.5 3.8-1.6 6.5-4.5 6.5-8.5v-5z" />);
export const EditIcon = icon(<path d="M5 19h3.5L18.5 9 15 5.5 5 15.5zM13 7.5l3.5 3.5" />);
export const KeyIcon = icon(<><circle cx="8.5" cy="15.5" r="3.7" /><path d="m11.2 12.8 8-8M16 8l2.7 2.7" /></>);
export const MailIcon = icon(<path d="M3.5 6h17v12h-17zM4 6.5l8 6.5 8-6.5" />);
export const WebhookIcon = icon(<path d="M4.5 12h11M11 7.5l4.5 4.5-4.5 4.5M19.5 5.5v13" />);
export const LeaveIcon = icon(<path d="M13.5 5h-8v14h8M10 12h10M16.5 8.5 20 12l-3.5 3.5" />);
export const BookIcon = icon(
  <path d="M5 5.5h5.5a2 2 0 0 1 1.5.7 2 2 0 0 1 1.5-.7H19v12.5h-5.5a2 2 0 0 0-1.5.7 2 2 0 0 0-1.5-.7H5zM12 6.5v11.5" />,
);
export const WarningIcon = icon(<path d="M12 4.5 3.5 19.5h17zM12 10v4.5M12 17.2h.01" />);
